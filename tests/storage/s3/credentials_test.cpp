// SPDX-License-Identifier: Apache-2.0
#include "storage/s3/credentials.h"

#include <limits>
#include <string>

#include "storage/s3/credentials_fixture.h"

#include <gmock/gmock.h>

namespace steptape::detail::storage {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST_F(CredentialsTest, TakesTheKeysOfTheEnvironment) {
  environment_.write(".aws/credentials",
                     "[default]\naws_access_key_id = F\naws_secret_access_key = HUSH");
  environment_.set("AWS_ACCESS_KEY_ID", "E");
  environment_.set("AWS_SECRET_ACCESS_KEY", "HUSH-E");
  EXPECT_EQ(find(), "E");
  EXPECT_EQ(keys_.secretAccessKey, "HUSH-E");
  EXPECT_EQ(keys_.sessionToken, "");
  EXPECT_EQ(keys_.expires, std::numeric_limits<double>::infinity());
  environment_.set("AWS_SESSION_TOKEN", "HUSH-T");
  EXPECT_EQ(find(), "E");
  EXPECT_EQ(keys_.sessionToken, "HUSH-T");
}

TEST_F(CredentialsTest, NameTheVariableThatIsMissing) {
  environment_.set("AWS_ACCESS_KEY_ID", "E");
  EXPECT_EQ(find(),
            "FailedPrecondition: credentials for S3: the environment: got AWS_ACCESS_KEY_ID "
            "without AWS_SECRET_ACCESS_KEY; expected both");
  environment_.set("AWS_ACCESS_KEY_ID", "");
  environment_.set("AWS_SECRET_ACCESS_KEY", "HUSH");
  EXPECT_THAT(find(), HasSubstr("got AWS_SECRET_ACCESS_KEY without AWS_ACCESS_KEY_ID;"));
}

TEST_F(CredentialsTest, RejectAKeyThatEndsWithALine) {
  environment_.set("AWS_ACCESS_KEY_ID", "E");
  environment_.set("AWS_SECRET_ACCESS_KEY", "HUSH\n");
  EXPECT_EQ(find(),
            "FailedPrecondition: credentials for S3: the environment: the secret access key: got a "
            "space, an end of line or another such character; expected letters, digits and "
            "punctuation alone");
}

TEST_F(CredentialsTest, ComeFromTheCredentialsFileBeforeTheConfigFile) {
  environment_.write(".aws/config",
                     "[default]\naws_access_key_id = C\naws_secret_access_key = HUSH-C\n"
                     "[profile work]\naws_access_key_id = W\naws_secret_access_key = HUSH-W\n"
                     "aws_session_token = HUSH-T\n");
  EXPECT_EQ(find(), "C");
  environment_.write(".aws/credentials",
                     "[default]\naws_access_key_id = F\naws_secret_access_key = HUSH-F\n");
  EXPECT_EQ(find(), "F");
  EXPECT_EQ(keys_.secretAccessKey, "HUSH-F");
  environment_.set("AWS_PROFILE", "work");
  EXPECT_EQ(find(), "W");
  EXPECT_EQ(keys_.sessionToken, "HUSH-T");
}

TEST_F(CredentialsTest, NameTheSettingThatAFileLacks) {
  const std::string file =
      environment_.write(".aws/credentials", "[default]\naws_secret_access_key = HUSH\n");
  EXPECT_EQ(find(),
            "FailedPrecondition: credentials for S3: profile \"default\": got "
            "aws_secret_access_key without aws_access_key_id in " +
                file + "; expected both");
  environment_.write(".aws/credentials",
                     "[default]\naws_access_key_id = F\n  aws_secret_access_key = HUSH\n");
  EXPECT_THAT(find(), HasSubstr("aws_access_key_id without aws_secret_access_key in " + file));
}

TEST_F(CredentialsTest, NameTheProfilesIfTheOneAskedForIsMissing) {
  environment_.set("AWS_ACCESS_KEY_ID", "E");
  environment_.set("AWS_SECRET_ACCESS_KEY", "HUSH");
  environment_.set("AWS_PROFILE", "gone");
  const std::string folder = environment_.home() + "/.aws/";
  const std::string start =
      "FailedPrecondition: credentials for S3: got the profile \"gone\" of AWS_PROFILE or "
      "AWS_DEFAULT_PROFILE; expected a profile of " +
      folder + "credentials and " + folder + "config: ";
  EXPECT_EQ(find(), start + "none");
  environment_.write(".aws/config", "[default]\n[profile work]\n");
  environment_.write(".aws/credentials", "[work]\n[play]\n");
  EXPECT_EQ(find(), start + "\"default\", \"play\", \"work\"");
}

TEST_F(CredentialsTest, NameTheServicesThatAProfileMissed) {
  environment_.write(".aws/config", "[default]\nservices = lab\n[services lba]\ns3 =\n  a = b\n");
  EXPECT_EQ(find(),
            "FailedPrecondition: credentials for S3: profile \"default\": got services = \"lab\"; "
            "expected the name of a section [services ...] in " +
                environment_.home() + "/.aws/config");
  environment_.set("AWS_ENDPOINT_URL", "http://localhost");
  EXPECT_THAT(find(), HasSubstr("got none in the environment"));
}

TEST_F(CredentialsTest, NameAllPlacesIfNoneHasAny) {
  const std::string folder = environment_.home() + "/.aws/";
  EXPECT_EQ(find(),
            "FailedPrecondition: credentials for S3: got none in the environment "
            "(AWS_ACCESS_KEY_ID is not set), a web identity (AWS_WEB_IDENTITY_TOKEN_FILE is not "
            "set), profile \"default\" (cannot read " +
                folder + "credentials: No such file or directory, cannot read " + folder +
                "config: No such file or directory), a container (neither "
                "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI nor AWS_CONTAINER_CREDENTIALS_FULL_URI is "
                "set), the instance (AWS_EC2_METADATA_DISABLED is true); expected keys in one of "
                "these places");
  environment_.write(".aws/credentials", "[other]\n");
  environment_.write(".aws/config", "[default]\nregion = eu-west-1\n");
  EXPECT_THAT(find(), HasSubstr("profile \"default\" (no such profile in " + folder +
                                "credentials, no aws_access_key_id in " + folder + "config)"));
}

TEST_F(CredentialsTest, SayWhatToDoAboutAProfileThatOnlyAwsFollows) {
  environment_.set("AWS_PROFILE", "work");
  environment_.write(".aws/config", "[profile work]\nsso_session = lab\n");
  EXPECT_EQ(find(),
            "FailedPrecondition: credentials for S3: profile \"work\": got sso_session, which is "
            "not supported; expected aws_access_key_id and aws_secret_access_key, or "
            "credential_process; run eval \"$(aws configure export-credentials --profile work "
            "--format env)\", or choose a profile with credential_process = aws configure "
            "export-credentials --profile work --format process");
  // The keys are those of a user that takes the role, who has other rights.
  environment_.write(".aws/config",
                     "[profile work]\nrole_arn = r\nsource_profile = work\n"
                     "aws_access_key_id = W\naws_secret_access_key = HUSH\n");
  EXPECT_THAT(find(), HasSubstr("got role_arn, which is not supported"));
}

TEST_F(CredentialsTest, ComeFromTheProgramOfAProfile) {
  const std::string answer =
      environment_.write("answer", R"({"Version": 1, "AccessKeyId": "P", "SecretAccessKey": "HUSH",
                    "SessionToken": "HUSH-T", "Expiration": "2026-11-29T14:00:00+01:00"})");
  environment_.write(".aws/config", "[default]\ncredential_process = cat '" + answer + "' # x\n");
  EXPECT_EQ(find(), "P");
  EXPECT_EQ(keys_.sessionToken, "HUSH-T");
  EXPECT_EQ(keys_.expires, clock_.wall + 3600);
}

TEST_F(CredentialsTest, SayWhatIsWrongWithTheProgramOfAProfile) {
  const std::string start =
      "IoError: credentials for S3: profile \"default\": credential_process: got ";
  const auto run = [this](const std::string& command) {
    environment_.write(".aws/config", "[default]\ncredential_process = " + command + "\n");
    return find();
  };
  EXPECT_EQ(run("echo HUSH; exit 3"), start + "exit code 3; expected exit code 0");
  EXPECT_EQ(run("kill -9 $$"), start + "signal 9; expected exit code 0");
  EXPECT_EQ(run("echo HUSH"), start + "a text that is no JSON; expected a JSON object with keys");
  EXPECT_EQ(run("echo '[\"HUSH\"]'"), start + "no object; expected a JSON object with keys");
  EXPECT_EQ(run(R"(echo '{"Version": 2, "AccessKeyId": "P"}')"),
            start + "a Version that is not 1; expected \"Version\": 1");
  EXPECT_EQ(run(R"(echo '{"Version": 1, "AccessKeyId": "P", "SecretAccessKey": 7}')"),
            start + "no SecretAccessKey; expected both");
  EXPECT_EQ(run(R"(echo '{"Version": 1, "AccessKeyId": "P", "SecretAccessKey": "HUSH", )"
                R"("Expiration": "soon"}')"),
            start + "Expiration \"soon\"; expected a time such as 2026-11-29T12:00:00Z");
  EXPECT_EQ(run("yes HUSH"), start + "too much output; expected keys within a minute; killed");
}

/// A profile whose program prints keys that end after a given time.
class RenewedCredentials : public CredentialsTest {
 protected:
  RenewedCredentials() {
    environment_.write(".aws/config",
                       "[default]\ncredential_process = cat '" + environment_.home() + "/answer'");
  }
  void give(const std::string& key, const std::string& expires) {
    environment_.write("answer", R"({"Version": 1, "AccessKeyId": ")" + key +
                                     R"(", "SecretAccessKey": "HUSH", "Expiration": ")" + expires +
                                     "\"}");
  }

  const double start_ = clock_.wall;  // 12:00
};

TEST_F(RenewedCredentials, AreReplacedFiveMinutesBeforeTheirEnd) {
  give("A", "2026-11-29T13:00:00Z");
  CredentialSource source(AwsSettings::fromEnvironment(), &http_, clock_);
  EXPECT_EQ(ask(&source), "A");
  give("B", "2026-11-29T14:00:00Z");
  clock_.wall = start_ + 3299;
  EXPECT_EQ(ask(&source), "A");
  clock_.wall = start_ + 3300;
  EXPECT_EQ(ask(&source), "B");
}

TEST_F(RenewedCredentials, AreKeptUntilTheirEndIfThereAreNoNewOnes) {
  give("A", "2026-11-29T13:00:00Z");
  CredentialSource source(AwsSettings::fromEnvironment(), &http_, clock_);
  EXPECT_EQ(ask(&source), "A");
  environment_.write("answer", "none");
  clock_.wall = start_ + 3300;
  EXPECT_EQ(ask(&source), "A");
  give("B", "2026-11-29T14:00:00Z");
  clock_.wall = start_ + 3359;
  EXPECT_EQ(ask(&source), "A") << "is asked again only after a minute";
  environment_.write("answer", "none");
  clock_.wall = start_ + 3599;
  EXPECT_EQ(ask(&source), "A");
  clock_.wall = start_ + 3600;
  EXPECT_THAT(ask(&source), StartsWith("IoError: "));
  give("B", "2026-11-29T14:00:00Z");
  EXPECT_EQ(ask(&source), "B");
}

TEST_F(RenewedCredentials, AreLookedForAgainIfTheServerRefusesThem) {
  give("A", "2026-11-29T13:00:00Z");
  CredentialSource source(AwsSettings::fromEnvironment(), &http_, clock_);
  EXPECT_EQ(ask(&source), "A");
  environment_.write("answer", "none");
  source.forget();
  EXPECT_THAT(ask(&source), StartsWith("IoError: "));
  EXPECT_THAT(ask(&source), StartsWith("IoError: "));
  give("B", "2026-11-29T14:00:00Z");
  EXPECT_EQ(ask(&source), "B");
  give("C", "2026-11-29T14:00:00Z");
  EXPECT_EQ(ask(&source), "B");
}

TEST_F(RenewedCredentials, OfAFileAreReadAgainIfTheServerRefusesThem) {
  const auto write = [this](const std::string& key) {
    environment_.write(".aws/credentials", "[default]\naws_access_key_id = " + key +
                                               "\naws_secret_access_key = HUSH\n");
  };
  write("A");
  CredentialSource source(AwsSettings::fromEnvironment(), &http_, clock_);
  EXPECT_EQ(ask(&source), "A");
  write("B");
  EXPECT_EQ(ask(&source), "A");
  source.forget();
  EXPECT_EQ(ask(&source), "B");
}

TEST_F(RenewedCredentials, ThatHaveEndedByAWrongClockAreTheServersToJudge) {
  give("A", "2026-11-29T11:00:00Z");
  CredentialSource source(AwsSettings::fromEnvironment(), &http_, clock_);
  EXPECT_EQ(ask(&source), "A");
  give("B", "2026-11-29T11:30:00Z");
  EXPECT_EQ(ask(&source), "A");
  clock_.wall = start_ + 60;
  EXPECT_EQ(ask(&source), "B");
}

TEST_F(RenewedCredentials, AreNotUsedAfterTheirEndInTheLastMinute) {
  give("A", "2026-11-29T12:00:20Z");
  CredentialSource source(AwsSettings::fromEnvironment(), &http_, clock_);
  EXPECT_EQ(ask(&source), "A");
  give("B", "2026-11-29T14:00:00Z");
  clock_.wall = start_ + 20;
  EXPECT_EQ(ask(&source), "B");
}

}  // namespace
}  // namespace steptape::detail::storage
