// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <cstddef>
#include <string_view>

#include "base/got_expected.h"
#include "base/text.h"
#include "base/whole_file.h"
#include "storage/s3/credential_places.h"
#include "storage/s3/key_document.h"

namespace steptape::detail::storage {
namespace {

constexpr int kMetadataDone = 200;
constexpr int kTooManyRequests = 429;
constexpr int kMetadataServerError = 500;

/// Returns a request to a server of the machine: it answers at once or not at all.
HttpRequest localRequest(std::string url) {
  HttpRequest request;
  request.url = std::move(url);
  request.usesProxy = false;
  request.connectTimeout = std::chrono::seconds(1);
  request.stallTimeout = std::chrono::seconds(2);
  return request;
}

/// @return the failure of a request that got no answer of status 200.
Status metadataStatus(const Status& sent, const HttpResponse& response, const std::string& url) {
  if (!sent.ok()) {
    return {sent.code(), "no answer from " + url + ": " + sent.message()};
  }
  if (response.status != kMetadataDone) {
    const bool mayPass =
        response.status >= kMetadataServerError || response.status == kTooManyRequests;
    return {mayPass ? ErrorCode::kIoError : ErrorCode::kFailedPrecondition,
            base::gotExpected("status " + std::to_string(response.status) + " from " + url,
                              "status 200")};
  }
  return {};
}

/// Gets the document of keys at a URL.
/// @param shown What of the URL may be in a message.
Finding keysAt(HttpClient* http, const HttpRequest& request, const std::string& shown) {
  HttpResponse response;
  const Status sent = sendTwice(http, request, &response);
  Status status = metadataStatus(sent, response, shown);
  Credentials keys;
  if (status.ok()) {
    status = readKeyDocument(response.body, KeyDocument::kServer, &keys);
    status = status.ok() ? status : Status(status.code(), shown + ": " + status.message());
  }
  return status.ok() ? Finding::found(std::move(keys)) : Finding::failed(std::move(status));
}

/// Returns whether a text has letters, digits and these characters alone.
bool hasOnly(std::string_view text, std::string_view others) {
  return std::all_of(text.begin(), text.end(), [others](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           others.find(c) != std::string_view::npos;
  });
}

/// The parts of a URL that decide where a request goes.
struct UrlServer {
  std::string scheme;
  std::string host;       ///< Without brackets; empty if the URL is not plain.
  std::string authority;  ///< With the port.
};

UrlServer serverOf(std::string_view url) {
  UrlServer server;
  const std::size_t mark = url.find("://");
  if (mark == std::string_view::npos) {
    return server;
  }
  server.scheme = url.substr(0, mark);
  url.remove_prefix(mark + 3);
  server.authority = url.substr(0, url.find_first_of("/?#"));
  // Nothing that a parser may take for another host, such as "127.0.0.1@elsewhere".
  const std::string& authority = server.authority;
  const bool isIpv6 = base::startsWith(authority, "[");
  const std::size_t end = std::min(authority.find(isIpv6 ? ']' : ':'), authority.size());
  const std::string host = authority.substr(isIpv6 ? 1 : 0, isIpv6 ? end - 1 : end);
  const std::string port = authority.substr(std::min(isIpv6 ? end + 1 : end, authority.size()));
  const bool isPort = port.empty() || (port.front() == ':' && hasOnly(port.substr(1), ""));
  if (isPort && hasOnly(host, isIpv6 ? ":" : ".-")) {
    server.host = host;
  }
  return server;
}

/// Returns whether AWS's tools send the token of a container to this server without TLS.
bool isLocalServer(const std::string& host) {
  constexpr std::array<std::string_view, 5> kHosts{"localhost", "::1", "169.254.170.2",
                                                   "169.254.170.23", "fd00:ec2::23"};
  const bool isLoopback =
      base::startsWith(host, "127.") && std::all_of(host.begin(), host.end(), [](unsigned char c) {
        return std::isdigit(c) != 0 || c == '.';
      });
  return isLoopback || std::find(kHosts.begin(), kHosts.end(), host) != kHosts.end();
}

/// Gets the header that a container's server asks for; none if there is no token.
Status addContainerToken(const AwsSettings& settings, HttpRequest* request) {
  std::string token = settings.containerToken;
  std::string origin = "AWS_CONTAINER_AUTHORIZATION_TOKEN";
  if (!settings.containerTokenFile.empty()) {
    origin = settings.containerTokenFile;
    if (Status status = base::readWholeFile(origin, token); !status.ok()) {
      return status;
    }
  }
  token = base::trimmed(token);
  if (!std::all_of(token.begin(), token.end(), [](char c) { return c >= ' ' && c <= '~'; })) {
    return {ErrorCode::kFailedPrecondition,
            origin + ": " + base::gotExpected("a token of several lines", "one line of ASCII")};
  }
  if (!token.empty()) {
    request->headers.push_back("Authorization: " + token);
  }
  return {};
}

}  // namespace

Status sendTwice(HttpClient* http, const HttpRequest& request, HttpResponse* response) {
  Status status = http->send(request, response);
  const bool mayPass =
      status.ok() ? response->status >= kMetadataServerError || response->status == kTooManyRequests
                  : status.code() == ErrorCode::kIoError;
  return mayPass ? http->send(request, response) : status;
}

Finding lookAtContainer(const AwsSettings& settings, HttpClient* http) {
  std::string url = settings.containerFullUri;
  if (!settings.containerRelativeUri.empty()) {
    if (settings.containerRelativeUri.front() != '/') {
      return Finding::refused(base::gotExpected(
          "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI without \"/\" at its start", "a path"));
    }
    url = settings.containerEndpoint + settings.containerRelativeUri;
  }
  if (url.empty()) {
    return Finding::lacking(
        "neither AWS_CONTAINER_CREDENTIALS_RELATIVE_URI nor AWS_CONTAINER_CREDENTIALS_FULL_URI is "
        "set");
  }
  const UrlServer server = serverOf(url);
  const bool isHttps = server.scheme == "https" && !server.host.empty();
  if (!isHttps && !(server.scheme == "http" && isLocalServer(server.host))) {
    return Finding::refused(
        "AWS_CONTAINER_CREDENTIALS_FULL_URI: " +
        base::gotExpected(
            server.host.empty() ? "no plain URL" : server.scheme + " to host " + server.host,
            "https, or http to a loopback address, 169.254.170.2, 169.254.170.23 or fd00:ec2::23"));
  }
  HttpRequest request = localRequest(url);
  if (Status status = addContainerToken(settings, &request); !status.ok()) {
    return Finding::failed(std::move(status));
  }
  return keysAt(http, request, server.scheme + "://" + server.authority);
}

Finding lookAtInstance(const AwsSettings& settings, HttpClient* http) {
  if (settings.isMetadataDisabled) {
    return Finding::lacking("AWS_EC2_METADATA_DISABLED is true");
  }
  HttpRequest request = localRequest(settings.metadataEndpoint + "/latest/api/token");
  request.method = "PUT";
  request.headers = {"X-aws-ec2-metadata-token-ttl-seconds: 21600"};
  HttpResponse response;
  Status sent = sendTwice(http, request, &response);
  Status status = metadataStatus(sent, response, settings.metadataEndpoint);
  const std::string token(base::trimmed(response.body));
  if (!sent.ok() && sent.code() != ErrorCode::kIoError) {
    return Finding::failed(std::move(status));  // no libcurl
  }
  if (!status.ok()) {
    return Finding::lacking(status.message());  // another cloud, or none
  }
  const std::string list =
      settings.metadataEndpoint + "/latest/meta-data/iam/security-credentials/";
  request = localRequest(list);
  request.headers = {"X-aws-ec2-metadata-token: " + token};
  sent = sendTwice(http, request, &response);
  constexpr int kNoSuchThing = 404;
  if (sent.ok() && response.status == kNoSuchThing) {
    return Finding::lacking("it has no role");
  }
  if (status = metadataStatus(sent, response, list); !status.ok()) {
    return Finding::failed(std::move(status));
  }
  const std::string_view roles = base::trimmed(response.body);
  const std::string role(base::trimmed(roles.substr(0, roles.find('\n'))));
  const bool isName = hasOnly(role, "_+=,.@-");
  if (role.empty() || !isName) {
    return Finding::failed(
        {ErrorCode::kIoError, base::gotExpected("no name from " + list, "the name of a role")});
  }
  request.url = list + role;
  return keysAt(http, request, request.url);
}

}  // namespace steptape::detail::storage
