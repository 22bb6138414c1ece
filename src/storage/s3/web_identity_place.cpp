// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdint>

#include "base/got_expected.h"
#include "base/text.h"
#include "base/whole_file.h"
#include "storage/s3/bucket_url.h"
#include "storage/s3/credential_places.h"
#include "storage/s3/key_document.h"
#include "storage/s3/region.h"
#include "storage/s3/xml_text.h"

namespace steptape::detail::storage {
namespace {

constexpr int kStsDone = 200;
constexpr int kStsServerError = 500;

std::string stsUrl(const AwsSettings& settings) {
  if (!settings.stsEndpointUrl.empty()) {
    return settings.stsEndpointUrl + "/";
  }
  const EndpointVariant& variant = settings.variant;
  if (settings.region.empty() && !variant.isFips && !variant.isDualStack) {
    return "https://sts.amazonaws.com/";
  }
  const std::string region = settings.region.empty() ? kDefaultRegion : settings.region;
  return endpointOfRegion("sts", region, variant) + "/";
}

std::string roleRequest(const AwsSettings& settings, const std::string& token, double seconds) {
  const std::string session =
      settings.roleSessionName.empty()
          ? "steptape-" + std::to_string(static_cast<std::int64_t>(std::floor(seconds)))
          : settings.roleSessionName;
  return "Action=AssumeRoleWithWebIdentity&Version=2011-06-15&RoleArn=" +
         uriEncoded(settings.roleArn, false) + "&RoleSessionName=" + uriEncoded(session, false) +
         "&WebIdentityToken=" + uriEncoded(token, false);
}

/// Returns what STS says of a request that failed.
Finding stsFailure(const AwsSettings& settings, const std::string& url,
                   const HttpResponse& response, const std::string& token) {
  const std::string code = elementText(response.body, "Code");
  const std::string message = elementText(response.body, "Message");
  // A server that is not STS may send back what it got.
  const bool mayBeShown = !base::contains(response.body, token) &&
                          !base::contains(response.body, uriEncoded(token, false));
  const std::string says = code.empty() || !mayBeShown
                               ? ""
                               : " (" + code + (message.empty() ? "" : ": " + message) + ")";
  const bool mayPass = response.status >= kStsServerError || code == "IDPCommunicationError";
  return Finding::failed(
      {mayPass ? ErrorCode::kIoError : ErrorCode::kFailedPrecondition,
       base::gotExpected("status " + std::to_string(response.status) + " from " + url + says,
                         "keys of the role " + settings.roleArn)});
}

}  // namespace

Finding lookAtWebIdentity(const AwsSettings& settings, HttpClient* http, const Clock& clock) {
  if (settings.webIdentityTokenFile.empty()) {
    return Finding::lacking("AWS_WEB_IDENTITY_TOKEN_FILE is not set");
  }
  if (settings.roleArn.empty()) {
    return Finding::refused(
        base::gotExpected("AWS_WEB_IDENTITY_TOKEN_FILE without AWS_ROLE_ARN", "both"));
  }
  std::string bytes;
  if (Status status = base::readWholeFile(settings.webIdentityTokenFile, bytes); !status.ok()) {
    return Finding::failed(status);
  }
  const std::string token(base::trimmed(bytes));
  if (token.empty()) {
    return Finding::refused(
        base::gotExpected("an empty file " + settings.webIdentityTokenFile, "a token"));
  }
  const std::string body = roleRequest(settings, token, clock.wallSeconds());
  HttpRequest request;
  request.method = "POST";
  request.url = stsUrl(settings);
  request.headers = {"Content-Type: application/x-www-form-urlencoded"};
  request.body = body;
  HttpResponse response;
  if (Status status = sendTwice(http, request, &response); !status.ok()) {
    return Finding::failed({status.code(), request.url + ": " + status.message()});
  }
  if (response.status != kStsDone) {
    return stsFailure(settings, request.url, response, token);
  }
  std::string_view rest = response.body;
  const std::string_view found = nextElement(&rest, "Credentials").value_or(std::string_view());
  Credentials keys{elementText(found, "AccessKeyId"), elementText(found, "SecretAccessKey"),
                   elementText(found, "SessionToken")};
  if (keys.accessKeyId.empty() || keys.secretAccessKey.empty() || keys.sessionToken.empty()) {
    return Finding::failed(
        {ErrorCode::kIoError, base::gotExpected("an answer of " + request.url + " without keys",
                                                "AccessKeyId, SecretAccessKey and SessionToken")});
  }
  Status status = setExpiry(elementText(found, "Expiration"), &keys);
  return status.ok() ? Finding::found(std::move(keys)) : Finding::failed(std::move(status));
}

}  // namespace steptape::detail::storage
