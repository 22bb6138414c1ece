// SPDX-License-Identifier: Apache-2.0
#include "storage/s3/aws_settings.h"

#include <string>

#include "storage/own_aws_environment.h"
#include "storage/s3/profile_file.h"

#include <gmock/gmock.h>

namespace steptape::detail::storage {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

ProfileFile config(const std::string& text) {
  return ProfileFile::parse(text, ProfileFile::Kind::kConfig);
}

ProfileFile credentials(const std::string& text) {
  return ProfileFile::parse(text, ProfileFile::Kind::kCredentials);
}

TEST(ProfileFile, HasProfilesByTheirNames) {
  EXPECT_THAT(credentials("[default]\na = 1\n[my-work]\na = 2\n").profiles,
              ElementsAre(Pair("default", ElementsAre(Pair("a", "1"))),
                          Pair("my-work", ElementsAre(Pair("a", "2")))));
  EXPECT_THAT(config("[default]\na = 1\n[ profile  work ]\na = 2\n[profile \"my lab\"] # mine\n"
                     "a = 3\n[sso-session work]\na = 4\n[work]\na = 5\n[profile]\na = 6\n"
                     "[profile-x y]\na = 7\n[profile a b]\na = 8\n")
                  .profiles,
              ElementsAre(Pair("default", ElementsAre(Pair("a", "1"))),
                          Pair("my lab", ElementsAre(Pair("a", "3"))),
                          Pair("work", ElementsAre(Pair("a", "2")))));
}

TEST(ProfileFile, PrefersTheDefaultThatIsCalledAProfile) {
  const auto isTwo = ElementsAre(Pair("default", ElementsAre(Pair("a", "2"))));
  EXPECT_THAT(config("[default]\na = 1\nb = 1\n[profile default]\na = 2\n").profiles, isTwo);
  EXPECT_THAT(config("[profile default]\na = 2\n[default]\na = 1\nb = 1\n").profiles, isTwo);
}

TEST(ProfileFile, SkipsCommentsAndLinesThatAreNoSettings) {
  EXPECT_THAT(credentials("\xef\xbb\xbf# comment\nlost = 1\n[a]\n  # comment\n ; comment\n\nword\n"
                          "A_Key=1 = 2 # comment\r\nb : x#y\nc =  #y\nd = 1\td ;y\n"
                          "credential_process = a ; b # c\n= 3\n[b\nd = 2")
                  .profiles,
              ElementsAre(Pair(
                  "a", ElementsAre(Pair("a_key", "1 = 2"), Pair("b", "x#y"), Pair("c", ""),
                                   Pair("credential_process", "a ; b # c"), Pair("d", "1\td")))));
}

TEST(ProfileFile, HasTheSettingsOfABlockBelowItsName) {
  EXPECT_THAT(config("[profile a]\nregion = r\n"
                     "s3 =\n  # comment\n\n  addressing_style = path\n  Endpoint_URL = u = v\n"
                     "output = json\n  endpoint_url = not\n"
                     "[default]\n  a = 1\n  b = 2\n   c = 3\n")
                  .profiles,
              ElementsAre(Pair("a", ElementsAre(Pair("output", "json"), Pair("region", "r"),
                                                Pair("s3", ""), Pair("s3.addressing_style", "path"),
                                                Pair("s3.endpoint_url", "u = v"))),
                          Pair("default", ElementsAre(Pair("a", "1"), Pair("b", "2")))));
}

TEST(ProfileFile, HasNothingOfAnyPieceOfAFileThatIsNotThere) {
  const std::string whole = "[profile a]\r\ns3 =\r\n  b = c\r\n[services x]\ns3 =\n d = e\n[\xff]";
  for (std::size_t size = 0; size <= whole.size(); ++size) {
    EXPECT_LE(config(whole.substr(0, size)).profiles.size(), 1U);
    EXPECT_LE(credentials(whole.substr(size)).profiles.size(), 3U);
  }
  EXPECT_THAT(config("").profiles, IsEmpty());
}

class AwsSettingsTest : public ::testing::Test {
 protected:
  static AwsSettings read() { return AwsSettings::fromEnvironment(); }

  test::OwnAwsEnvironment environment_;
};

TEST_F(AwsSettingsTest, HaveDefaults) {
  environment_.unset("AWS_EC2_METADATA_DISABLED");
  const AwsSettings settings = read();
  EXPECT_EQ(settings.profile, "default");
  EXPECT_EQ(settings.credentialsFile, environment_.home() + "/.aws/credentials");
  EXPECT_EQ(settings.configFile, environment_.home() + "/.aws/config");
  EXPECT_EQ(settings.region, "");
  EXPECT_EQ(settings.endpointUrl, "");
  EXPECT_FALSE(settings.isMetadataDisabled);
  EXPECT_EQ(settings.metadataEndpoint, "http://169.254.169.254");
}

TEST_F(AwsSettingsTest, FindTheFolderOfTheUserWithoutAVariable) {
  environment_.unset("HOME");
  EXPECT_EQ(read().configFile.front(), '/');
  environment_.set("HOME", "/elsewhere");
  environment_.set("AWS_CONFIG_FILE", "~/aws config");
  EXPECT_EQ(read().configFile, "/elsewhere/aws config");
}

TEST_F(AwsSettingsTest, TakeTheRegionOfTheEnvironmentBeforeThatOfAProfile) {
  environment_.write(".aws/config", "[default]\nregion = c\n[profile work]\nregion = w\n");
  EXPECT_EQ(read().region, "c");
  environment_.set("AWS_DEFAULT_PROFILE", "work");
  EXPECT_EQ(read().region, "w");
  environment_.set("AWS_PROFILE", "default");
  EXPECT_EQ(read().region, "c");
  environment_.write(".aws/credentials", "[default]\nregion = f\n");
  EXPECT_EQ(read().region, "f");
  environment_.set("AWS_DEFAULT_REGION", "d");
  EXPECT_EQ(read().region, "d");
  environment_.set("AWS_REGION", "e");
  EXPECT_EQ(read().region, "e");
}

TEST_F(AwsSettingsTest, ChooseValidatedServersAndThoseWithIpv6) {
  EXPECT_FALSE(read().variant.isFips || read().variant.isDualStack);
  environment_.write(".aws/config",
                     "[default]\nuse_fips_endpoint = true\nuse_dualstack_endpoint = TRUE\n");
  EXPECT_TRUE(read().variant.isFips && read().variant.isDualStack);
  environment_.set("AWS_USE_FIPS_ENDPOINT", "false");
  EXPECT_FALSE(read().variant.isFips);
  environment_.set("AWS_USE_DUALSTACK_ENDPOINT", "false");
  EXPECT_FALSE(read().variant.isDualStack);
}

TEST_F(AwsSettingsTest, TakeTheEndpointOfS3BeforeThatOfAllServices) {
  environment_.write(".aws/config",
                     "[default]\nendpoint_url = http://all-c\nservices = lab\n"
                     "[services lab]\nsts =\n  endpoint_url = http://sts-c\n"
                     "s3 =\n  endpoint_url = http://s3-c/\n");
  EXPECT_EQ(read().endpointUrl, "http://s3-c");
  EXPECT_EQ(read().stsEndpointUrl, "http://sts-c");
  environment_.set("AWS_ENDPOINT_URL", "http://all-e");
  EXPECT_EQ(read().endpointUrl, "http://all-e");
  EXPECT_EQ(read().stsEndpointUrl, "http://all-e");
  environment_.set("AWS_ENDPOINT_URL_S3", "http://s3-e");
  EXPECT_EQ(read().endpointUrl, "http://s3-e");
  environment_.set("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "True");
  EXPECT_EQ(read().endpointUrl, "");
}

TEST_F(AwsSettingsTest, TakeTheEndpointOfTensorBoardWhereThereIsNoOther) {
  environment_.set("S3_ENDPOINT", "http://tensorboard/");
  EXPECT_EQ(read().endpointUrl, "http://tensorboard");
  environment_.set("AWS_ENDPOINT_URL", "http://all-e");
  EXPECT_EQ(read().endpointUrl, "http://all-e");
}

TEST_F(AwsSettingsTest, TakeTheEndpointOfAProfileWithoutServices) {
  environment_.write(".aws/config", "[default]\nendpoint_url = http://all-c\n");
  EXPECT_EQ(read().endpointUrl, "http://all-c");
  environment_.write(".aws/credentials", "[default]\nignore_configured_endpoint_urls = true\n");
  EXPECT_EQ(read().endpointUrl, "");
}

TEST_F(AwsSettingsTest, TakeARoleOfAProfileWithItsTokenFileAlone) {
  environment_.write(".aws/config", "[default]\nrole_arn = r\nsource_profile = x\n");
  EXPECT_EQ(read().roleArn, "");
  environment_.write(".aws/config", "[default]\nrole_arn = r\nweb_identity_token_file = /t\n");
  EXPECT_EQ(read().roleArn, "r");
  EXPECT_EQ(read().webIdentityTokenFile, "/t");
  environment_.set("AWS_ROLE_ARN", "e");
  EXPECT_EQ(read().roleArn, "e");
}

TEST_F(AwsSettingsTest, NameTheServerOfInstances) {
  environment_.set("AWS_EC2_METADATA_DISABLED", "TRUE");
  EXPECT_TRUE(read().isMetadataDisabled);
  environment_.set("AWS_EC2_METADATA_DISABLED", "false");
  EXPECT_FALSE(read().isMetadataDisabled);
  environment_.write(".aws/config", "[default]\nec2_metadata_service_endpoint_mode = ipv6\n");
  EXPECT_EQ(read().metadataEndpoint, "http://[fd00:ec2::254]");
  environment_.set("AWS_EC2_METADATA_SERVICE_ENDPOINT", "http://127.0.0.1:1/");
  EXPECT_EQ(read().metadataEndpoint, "http://127.0.0.1:1");
}

}  // namespace
}  // namespace steptape::detail::storage
