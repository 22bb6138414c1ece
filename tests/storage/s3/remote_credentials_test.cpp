// SPDX-License-Identifier: Apache-2.0
// Keys of servers.
#include <string>
#include <utility>
#include <vector>

#include "storage/loopback_server.h"
#include "storage/s3/credentials.h"
#include "storage/s3/credentials_fixture.h"
#include "storage/s3/key_document.h"

#include <gmock/gmock.h>

namespace steptape::detail::storage {
namespace {

using test::LoopbackAnswer;
using test::LoopbackRequest;
using test::LoopbackServer;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::StartsWith;

constexpr const char* kKeys = R"({"Code": "Success", "AccessKeyId": "S",
    "SecretAccessKey": "HUSH", "Token": "HUSH-T", "Expiration": "2026-11-29T13:00:00Z"})";

LoopbackAnswer answer(int status, const std::string& body) {
  LoopbackAnswer answer;
  answer.status = status;
  answer.body = body;
  return answer;
}

/// A server whose answer can be changed, for keys of a container.
class ContainerCredentials : public CredentialsTest {
 protected:
  AwsSettings settings() {
    AwsSettings settings = AwsSettings::fromEnvironment();
    settings.containerEndpoint = server_.url();
    return settings;
  }
  std::string findHere() {
    CredentialSource source(settings(), &http_, clock_);
    return ask(&source);
  }
  void give(LoopbackAnswer next) {
    server_.change([&] { answer_ = std::move(next); });
  }
  std::string problemStart() const {
    return "credentials for S3: a container: " + server_.url() + ": ";
  }

  LoopbackAnswer answer_ = answer(200, kKeys);
  LoopbackServer server_{[this](const LoopbackRequest&) { return answer_; }};
};

TEST_F(ContainerCredentials, ComeFromARelativeAddress) {
  environment_.set("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "/v2/credentials?id=1");
  EXPECT_EQ(findHere(), "S");
  EXPECT_EQ(keys_.sessionToken, "HUSH-T");
  EXPECT_EQ(keys_.expires, clock_.wall + 3600);
  ASSERT_THAT(server_.requests(), SizeIs(1));
  EXPECT_EQ(server_.requests()[0].target, "/v2/credentials?id=1");
  EXPECT_EQ(server_.requests()[0].header("authorization"), "");
  environment_.set("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", ".example.com/x");
  EXPECT_THAT(findHere(), HasSubstr("RELATIVE_URI without \"/\" at its start; expected a path"));
}

TEST_F(ContainerCredentials, AreAskedForWithATokenThatIsReadAgain) {
  environment_.set("AWS_CONTAINER_CREDENTIALS_FULL_URI", server_.url() + "/x");
  environment_.set("AWS_CONTAINER_AUTHORIZATION_TOKEN", "HUSH-0");
  EXPECT_EQ(findHere(), "S");
  environment_.set("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE",
                   environment_.write("token", "HUSH-1\n"));
  CredentialSource source(settings(), &http_, clock_);
  EXPECT_EQ(ask(&source), "S");
  environment_.write("token", "HUSH-2");
  clock_.wall += 3300;
  EXPECT_EQ(ask(&source), "S");
  std::vector<std::string> tokens;
  for (const LoopbackRequest& request : server_.requests()) {
    tokens.push_back(request.header("authorization"));
  }
  EXPECT_THAT(tokens, ElementsAre("HUSH-0", "HUSH-1", "HUSH-2"));

  const std::string file = environment_.write("token", "HUSH\r\nX: y");
  EXPECT_EQ(findHere(), "FailedPrecondition: credentials for S3: a container: " + file +
                            ": got a token of several lines; expected one line of ASCII");
  environment_.set("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", file + "x");
  EXPECT_THAT(findHere(), StartsWith("IoError: credentials for S3: a container: cannot read "));
  EXPECT_THAT(server_.requests(), SizeIs(3));
}

TEST_F(ContainerCredentials, AreAskedForWithoutAProxy) {
  LoopbackServer proxy([](const LoopbackRequest&) { return answer(200, kKeys); });
  environment_.set("http_proxy", proxy.url());
  environment_.set("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "/x");
  EXPECT_EQ(findHere(), "S");
  EXPECT_THAT(proxy.requests(), SizeIs(0));
}

TEST_F(ContainerCredentials, AreNotAskedOfAnyServer) {
  const auto problem = [this](const std::string& url) {
    environment_.set("AWS_CONTAINER_CREDENTIALS_FULL_URI", url);
    return find();
  };
  const std::string start =
      "FailedPrecondition: credentials for S3: a container: AWS_CONTAINER_CREDENTIALS_FULL_URI: ";
  EXPECT_EQ(problem("http://example.com/HUSH"),
            start +
                "got http to host example.com; expected https, or http to a loopback address, "
                "169.254.170.2, 169.254.170.23 or fd00:ec2::23");
  for (const char* const url :
       {"http://127.0.0.1.example.com/", "http://169.254.170.20/", "http://[fd00:ec2::2]/",
        "http://localhost.example.com", "ftp://localhost/", "http://[127.0.0.1.x"}) {
    EXPECT_THAT(problem(url), StartsWith(start + "got ")) << url;
  }
  for (const char* const url :
       {"localhost/x", "http://127.0.0.1@example.com/", "http:///x",
        "http://example.com\\@127.0.0.1/", "https://a@b/", "http://[::1]x/", "http://[::1]:8@x/"}) {
    EXPECT_THAT(problem(url), StartsWith(start + "got no plain URL")) << url;
  }
  // Nothing listens there, but it is asked.
  for (const char* const url :
       {"https://127.0.0.1:1/x", "http://127.9.9.9:1", "http://[::1]:1/", "http://localhost:1?x"}) {
    EXPECT_THAT(problem(url),
                StartsWith("IoError: credentials for S3: a container: no answer from http"))
        << url;
  }
}

TEST_F(ContainerCredentials, SayWhatTheServerAnswered) {
  environment_.set("AWS_CONTAINER_CREDENTIALS_FULL_URI", server_.url() + "/HUSH");
  const std::string start = "IoError: " + problemStart();
  give(answer(403, "HUSH"));
  EXPECT_EQ(findHere(),
            "FailedPrecondition: credentials for S3: a container: got status 403 from " +
                server_.url() + "; expected status 200");
  EXPECT_THAT(server_.requests(), SizeIs(1));
  give(answer(503, "HUSH"));
  EXPECT_EQ(findHere(), "IoError: credentials for S3: a container: got status 503 from " +
                            server_.url() + "; expected status 200");
  EXPECT_THAT(server_.requests(), SizeIs(3)) << "503 is asked twice";
  give(LoopbackAnswer::close());
  EXPECT_THAT(findHere(), StartsWith("IoError: credentials for S3: a container: no answer from " +
                                     server_.url() + ": "));
  LoopbackAnswer half = answer(200, kKeys);
  half.sentBytes = 60;
  half.ending = test::LoopbackEnding::kClose;
  give(half);
  EXPECT_THAT(findHere(), StartsWith("IoError: credentials for S3: a container: no answer from "));
  give(answer(200, R"({"AccessKeyId": "HUSH)"));
  EXPECT_EQ(findHere(), start + "got a text that is no JSON; expected a JSON object with keys");
  give(answer(200, std::string(1 << 17, '[')));
  EXPECT_EQ(findHere(), start + "got 131072 bytes; expected at most 65536");
  give(answer(200, std::string(1 << 15, '[')));
  EXPECT_EQ(findHere(), start + "got a text that is no JSON; expected a JSON object with keys");
  give(answer(200, R"({"AccessKeyId": ["HUSH"], "SecretAccessKey": "HUSH"})"));
  EXPECT_EQ(findHere(), start + "got no AccessKeyId; expected both");
  give(answer(200, R"({"Code": "AssumeRoleUnauthorizedAccess", "Message": "HUSH"})"));
  EXPECT_EQ(findHere(), start + "got the code AssumeRoleUnauthorizedAccess; expected Success");
}

/// Answers as an instance's server of version 2.
class InstanceCredentials : public CredentialsTest {
 protected:
  InstanceCredentials() {
    environment_.set("AWS_EC2_METADATA_DISABLED", "false");
    environment_.set("AWS_EC2_METADATA_SERVICE_ENDPOINT", server_.url());
  }

  LoopbackAnswer answerOf(const LoopbackRequest& request) const {
    if (request.target == "/latest/api/token") {
      return request.method == "PUT" &&
                     request.header("x-aws-ec2-metadata-token-ttl-seconds") == "21600"
                 ? token_
                 : answer(400, "");
    }
    if (request.method != "GET" || request.header("x-aws-ec2-metadata-token") != "HUSH-M") {
      return answer(401, "");
    }
    const std::string list = "/latest/meta-data/iam/security-credentials/";
    return request.target == list             ? roles_
           : request.target == list + "lab-1" ? document_
                                              : answer(404, "");
  }

  void give(LoopbackAnswer* place, LoopbackAnswer next) {
    server_.change([&] { *place = std::move(next); });
  }

  LoopbackAnswer token_ = answer(200, "HUSH-M");
  LoopbackAnswer roles_ = answer(200, "lab-1\nlab-2\n");
  LoopbackAnswer document_ = answer(200, kKeys);
  LoopbackServer server_{[this](const LoopbackRequest& request) { return answerOf(request); }};
};

TEST_F(InstanceCredentials, ComeFromItsRole) {
  EXPECT_EQ(find(), "S");
  EXPECT_EQ(keys_.sessionToken, "HUSH-T");
  EXPECT_EQ(keys_.expires, clock_.wall + 3600);
  EXPECT_THAT(server_.requests(), SizeIs(3));
  EXPECT_EQ(server_.connections(), 1U);
}

TEST_F(InstanceCredentials, AreMissingOnAMachineOfAnotherKind) {
  give(&token_, answer(404, "HUSH"));
  EXPECT_THAT(find(), HasSubstr("the instance (got status 404 from " + server_.url() +
                                "; expected status 200); expected keys in one"));
  give(&token_, LoopbackAnswer::close());
  EXPECT_THAT(find(), HasSubstr("the instance (no answer from " + server_.url() + ": "));
  environment_.set("AWS_EC2_METADATA_SERVICE_ENDPOINT", "http://127.0.0.1:1");
  EXPECT_THAT(find(), HasSubstr("the instance (no answer from http://127.0.0.1:1: "));
}

TEST_F(InstanceCredentials, AreMissingWithoutARole) {
  give(&roles_, answer(404, ""));
  EXPECT_THAT(find(), HasSubstr("the instance (it has no role); expected"));
  give(&roles_, answer(200, "<html>HUSH"));
  EXPECT_THAT(find(), StartsWith("IoError: credentials for S3: the instance: got no name from "));
  give(&document_, answer(500, "HUSH"));
  give(&roles_, answer(200, "lab-1"));
  EXPECT_THAT(find(),
              StartsWith("IoError: credentials for S3: the instance: got status 500 from "));
}

TEST_F(InstanceCredentials, ThatEndedMayComeBack) {
  CredentialSource source(AwsSettings::fromEnvironment(), &http_, clock_);
  EXPECT_EQ(ask(&source), "S");
  give(&token_, LoopbackAnswer::close());
  clock_.wall += 3599;
  EXPECT_EQ(ask(&source), "S");
  clock_.wall += 1;
  EXPECT_THAT(ask(&source), StartsWith("IoError: credentials for S3: got none in "));
}

/// Answers as AWS's Security Token Service.
class WebIdentityCredentials : public CredentialsTest {
 protected:
  WebIdentityCredentials() {
    environment_.set("AWS_ENDPOINT_URL_STS", server_.url());
    environment_.set("AWS_ROLE_ARN", "arn:aws:iam::1:role/lab");
    environment_.set("AWS_WEB_IDENTITY_TOKEN_FILE", environment_.write("token", "HUSH-1+/=\n"));
  }

  void give(LoopbackAnswer next) {
    server_.change([&] { answer_ = std::move(next); });
  }

  LoopbackAnswer answer_ = answer(200, R"(<AssumeRoleWithWebIdentityResponse xmlns="x">
    <AssumeRoleWithWebIdentityResult><AssumedRoleUser><Arn>a</Arn></AssumedRoleUser><Credentials>
      <AccessKeyId>S</AccessKeyId><SecretAccessKey>HUSH</SecretAccessKey>
      <SessionToken>HUSH-T</SessionToken><Expiration>2026-11-29T13:00:00.5Z</Expiration>
    </Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>)");
  LoopbackServer server_{[this](const LoopbackRequest&) { return answer_; }};
};

TEST_F(WebIdentityCredentials, ComeForTheTokenOfAFile) {
  environment_.write(".aws/credentials",
                     "[default]\naws_access_key_id = F\naws_secret_access_key = HUSH");
  EXPECT_EQ(find(), "S");
  EXPECT_EQ(keys_.secretAccessKey, "HUSH");
  EXPECT_EQ(keys_.sessionToken, "HUSH-T");
  EXPECT_EQ(keys_.expires, clock_.wall + 3600);
  environment_.write("token", "HUSH-2");
  environment_.set("AWS_ROLE_SESSION_NAME", "me@lab");
  EXPECT_EQ(find(), "S");
  ASSERT_THAT(server_.requests(), SizeIs(2));
  const LoopbackRequest request = server_.requests()[0];
  EXPECT_EQ(request.method + request.target, "POST/");
  EXPECT_EQ(request.header("content-type"), "application/x-www-form-urlencoded");
  EXPECT_EQ(request.header("authorization"), "");
  EXPECT_EQ(request.body,
            "Action=AssumeRoleWithWebIdentity&Version=2011-06-15&RoleArn=arn%3Aaws%3Aiam%3A%3A1%3A"
            "role%2Flab&RoleSessionName=steptape-1795953600&WebIdentityToken=HUSH-1%2B%2F%3D");
  EXPECT_THAT(server_.requests()[1].body,
              HasSubstr("&RoleSessionName=me%40lab&WebIdentityToken=HUSH-2"));
}

TEST_F(WebIdentityCredentials, SayWhatTheServiceAnswered) {
  const std::string start = "credentials for S3: a web identity: got status ";
  const std::string end = "; expected keys of the role arn:aws:iam::1:role/lab";
  give(answer(400,
              "<ErrorResponse><Error><Code>InvalidIdentityToken</Code><Message>No "
              "&quot;provider&quot;</Message></Error></ErrorResponse>"));
  EXPECT_EQ(find(), "FailedPrecondition: " + start + "400 from " + server_.url() +
                        "/ (InvalidIdentityToken: No \"provider\")" + end);
  give(answer(400, "<Code>InvalidIdentityToken</Code><Message>HUSH-1+/=</Message>"));
  EXPECT_EQ(find(), "FailedPrecondition: " + start + "400 from " + server_.url() + "/" + end);
  EXPECT_THAT(server_.requests(), SizeIs(2));
  give(answer(500, ""));
  EXPECT_EQ(find(), "IoError: " + start + "500 from " + server_.url() + "/" + end);
  EXPECT_THAT(server_.requests(), SizeIs(4)) << "500 is asked twice";
  give(answer(200, "<html>HUSH</html>"));
  EXPECT_EQ(find(), "IoError: credentials for S3: a web identity: got an answer of " +
                        server_.url() +
                        "/ without keys; expected AccessKeyId, SecretAccessKey and SessionToken");
}

TEST_F(WebIdentityCredentials, NeedARoleAndAToken) {
  environment_.set("AWS_WEB_IDENTITY_TOKEN_FILE", environment_.write("empty", "\n"));
  EXPECT_EQ(find(), "FailedPrecondition: credentials for S3: a web identity: got an empty file " +
                        environment_.home() + "/empty; expected a token");
  environment_.set("AWS_WEB_IDENTITY_TOKEN_FILE", "/nowhere");
  EXPECT_EQ(find(),
            "IoError: credentials for S3: a web identity: cannot read /nowhere: No such file or "
            "directory");
  environment_.unset("AWS_ROLE_ARN");
  EXPECT_EQ(find(),
            "FailedPrecondition: credentials for S3: a web identity: got "
            "AWS_WEB_IDENTITY_TOKEN_FILE without AWS_ROLE_ARN; expected both");
}

TEST(SecondsOfIsoTime, ReadsUtcAndOffsets) {
  constexpr double kNoon = 1'795'953'600;
  EXPECT_EQ(secondsOfIsoTime("2026-11-29T12:00:00Z"), kNoon);
  EXPECT_EQ(secondsOfIsoTime("2026-11-29T12:00:00.123456Z"), kNoon);
  EXPECT_EQ(secondsOfIsoTime("2026-11-29T12:00:00+00:00"), kNoon);
  EXPECT_EQ(secondsOfIsoTime("2026-11-29T14:30:00+02:30"), kNoon);
  EXPECT_EQ(secondsOfIsoTime("2026-11-29T04:00:00.5-08:00"), kNoon);
  for (const char* const text :
       {"", "x", "2026-11-29", "2026-11-29T12:00:00", "2026-11-29 12:00:00Z",
        "2026-11-29T12:00:00Zx", "2026-11-29T12:00:00+1", "2026-11-29T12:00:00+01:00x",
        "2026-11-29T12:00:00.Z9", "1795953600"}) {
    EXPECT_EQ(secondsOfIsoTime(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace steptape::detail::storage
