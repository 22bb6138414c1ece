// SPDX-License-Identifier: Apache-2.0
#include "storage/s3/bucket.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <ctime>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/got_expected.h"
#include "base/sha256.h"
#include "base/text.h"
#include "storage/s3/region.h"
#include "storage/s3/request_signature.h"
#include "storage/s3/xml_text.h"

namespace steptape::detail::storage {
namespace {

using Outcome = StorageResult::Outcome;

constexpr std::string_view kMetadata = "x-amz-meta-";
// More than the time that a server takes to answer, less than the 15 minutes that S3 allows.
constexpr double kClockTolerance = 300;
constexpr int kMostAttempts = 4;
constexpr int kBeyondEnd = 416;
constexpr int kNotImplemented = 501;

/// @return empty if it cannot be read, or is stopped.
std::string hashOf(const ObjectBody& body, const std::function<bool()>& stop) {
  base::Sha256 hash;
  std::vector<char> block(std::size_t{64} << 10);
  for (std::uint64_t done = 0; done < body.bytes;) {
    const auto most =
        static_cast<std::size_t>(std::min<std::uint64_t>(body.bytes - done, block.size()));
    const bool isStopped = stop && stop();
    const std::size_t read = isStopped ? 0 : body.read(done, block.data(), most);
    if (read == 0) {
      return {};
    }
    hash.update({block.data(), read});
    done += read;
  }
  return base::hexadecimal(hash.finish());
}

/// Returns "host[:port]" of a URL, and what is before and behind it.
struct UrlParts {
  std::string scheme;  // "https://"
  std::string host;
  std::string path;  // without a slash at the end
};

UrlParts partsOf(std::string_view url) {
  UrlParts parts;
  const std::size_t mark = url.find("://");
  parts.scheme = mark == std::string_view::npos ? "https://" : url.substr(0, mark + 3);
  url.remove_prefix(mark == std::string_view::npos ? 0 : mark + 3);
  const std::size_t slash = std::min(url.find('/'), url.size());
  parts.host = url.substr(0, slash);
  parts.path = url.substr(slash);
  parts.path.erase(parts.path.find_last_not_of('/') + 1);
  const std::string_view port = parts.scheme == "http://" ? ":80" : ":443";
  if (base::endsWith(parts.host, port)) {
    parts.host.erase(parts.host.size() - port.size());  // as libcurl sends it
  }
  return parts;
}

std::optional<double> secondsOf(const std::string& httpDate) {
  std::tm utc{};
  if (strptime(httpDate.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &utc) == nullptr) {
    return std::nullopt;
  }
  return static_cast<double>(timegm(&utc));
}

std::string withoutQuotes(std::string text) {
  text.erase(std::remove(text.begin(), text.end(), '"'), text.end());
  return text;
}

ObjectHead headOf(const HttpResponse& response) {
  ObjectHead head;
  head.etag = withoutQuotes(response.header("etag"));
  for (const auto& [name, value] : response.headers) {
    if (base::startsWith(name, kMetadata)) {
      head.metadata[name.substr(kMetadata.size())] = value;
    }
  }
  return head;
}

bool mayPass(int status) {
  return status == 408 || status == 429 || (status >= 500 && status != kNotImplemented);
}

}  // namespace

ObjectBody ObjectBody::of(std::string_view bytes) {
  ObjectBody body;
  body.bytes = bytes.size();
  body.read = [bytes](std::uint64_t offset, char* out, std::size_t most) {
    const std::string_view part = bytes.substr(static_cast<std::size_t>(offset), most);
    std::memcpy(out, part.data(), part.size());
    return part.size();
  };
  return body;
}

struct Bucket::Request {
  std::string method;
  std::string key;  ///< Empty: the bucket.
  std::map<std::string, std::string> query = {};
  std::map<std::string, std::string> headers = {};  ///< Names in lower case.
  const ObjectBody* body = nullptr;
  std::function<bool(std::string_view)> sink = {};
};

Bucket::Bucket(BucketUrl url, AwsSettings settings, Options options, const Clock& clock)
    : url_(std::move(url)),
      settings_(std::move(settings)),
      options_(std::move(options)),
      clock_(clock),
      http_({settings_.certificates, options_.stop}),
      credentials_(settings_, &http_, clock),
      region_(settings_.region.empty() ? std::string(kDefaultRegion) : settings_.region) {}

std::string Bucket::endpoint() const {
  if (!settings_.endpointUrl.empty()) {
    return settings_.endpointUrl;
  }
  return endpointOfRegion("s3", region_, settings_.variant);
}

std::string Bucket::urlOfKey(const std::string& key) const {
  return "s3://" + url_.bucket + (key.empty() ? "" : '/' + key);
}

StorageResult Bucket::list(const std::function<void(ObjectInfo)>& onObject) {
  Request request{"GET", ""};
  request.query = {{"list-type", "2"}, {"encoding-type", "url"}};
  const std::string start = url_.prefix.empty() ? "" : url_.prefix + '/';
  if (!start.empty()) {
    request.query["prefix"] = start;
  }
  std::set<std::string> tokens;  // of the parts so far
  std::set<std::string> listed;
  while (true) {
    HttpResponse response;
    StorageResult result = send(request, &response);
    if (!result.isDone()) {
      return result;
    }
    if (std::optional<StorageResult> other = otherThanList(response)) {
      return std::move(*other);
    }
    const bool isEncoded = elementText(response.body, "EncodingType") == "url";
    std::string_view rest = response.body;
    while (const std::optional<std::string_view> object = nextElement(&rest, "Contents")) {
      std::string key = elementText(*object, "Key");
      key = isEncoded ? uriDecoded(key) : key;
      ObjectInfo info;
      const std::string size = elementText(*object, "Size");
      std::from_chars(size.data(), size.data() + size.size(), info.bytes);
      info.etag = withoutQuotes(elementText(*object, "ETag"));
      if (base::startsWith(key, start) && key.size() > start.size()) {
        info.path = key.substr(start.size());
        // A server may list an object twice while it is replaced.
        if (listed.insert(info.path).second) {
          onObject(std::move(info));
        }
      }
    }
    if (elementText(response.body, "IsTruncated") != "true") {
      return {};
    }
    const std::string next = elementText(response.body, "NextContinuationToken");
    if (next.empty() || !tokens.insert(next).second) {
      return {Outcome::kRefused,
              {ErrorCode::kIoError, url_.urlOf("") + ": " +
                                        base::gotExpected("a part of a list from " + endpoint() +
                                                              " without a mark of the next one",
                                                          "a server that knows list-type=2")}};
    }
    request.query["continuation-token"] = next;
  }
}

/// @return what is wrong with a success that has no list; nothing if it has one.
std::optional<StorageResult> Bucket::otherThanList(const HttpResponse& response) const {
  std::string_view rest = response.body;
  if (nextElement(&rest, "Code")) {
    return resultOf({"GET", ""}, response);  // an error, behind a head that was sent too early
  }
  if (base::contains(response.body, "</ListBucketResult>")) {
    return std::nullopt;
  }
  const bool isCut = base::contains(response.body, "<ListBucketResult");
  const std::string got = isCut ? "the beginning of a list" : "an answer without a list of objects";
  return StorageResult{isCut ? Outcome::kFailed : Outcome::kRefused,
                       {ErrorCode::kIoError,
                        url_.urlOf("") + ": " +
                            base::gotExpected(got + " from " + endpoint(),
                                              isCut ? "all of it" : "a server that speaks S3")}};
}

StorageResult Bucket::head(const std::string& path, ObjectHead* head) {
  HttpResponse response;
  const Request request{"HEAD", url_.keyOf(path)};
  StorageResult result = send(request, &response);
  if (result.outcome == Outcome::kRefused && response.status > 0) {
    // An answer to HEAD has no body, which would say why.
    Request again{"GET", request.key};
    again.headers["range"] = "bytes=0-0";
    HttpResponse reason;
    StorageResult said = send(again, &reason);
    if (!said.isDone() && reason.status != kBeyondEnd) {
      return said;
    }
    result = send(request, &response);  // with what that has taught
  }
  if (!result.isDone()) {
    return result;
  }
  *head = headOf(response);
  const std::string length = response.header("content-length");
  std::from_chars(length.data(), length.data() + length.size(), head->bytes);
  return {};
}

StorageResult Bucket::put(const std::string& path, const ObjectBody& body, const std::string& etag,
                          std::string* newEtag) {
  Request request{"PUT", url_.keyOf(path)};
  for (const auto& [name, value] : body.metadata) {
    request.headers[std::string(kMetadata) + name] = value;
  }
  const std::string condition = etag.empty() ? "if-none-match" : "if-match";
  if (knowsConditions_) {
    request.headers[condition] = etag.empty() ? "*" : '"' + etag + '"';
  }
  request.body = &body;
  HttpResponse response;
  StorageResult result = send(request, &response);
  if (knowsConditions_ && response.status == kNotImplemented) {
    request.headers.erase(condition);
    result = send(request, &response);
    knowsConditions_ = !result.isDone();
  }
  if (result.isDone()) {
    *newEtag = withoutQuotes(response.header("etag"));
  }
  return result;
}

StorageResult Bucket::get(const std::string& path, std::uint64_t offset, const std::string& etag,
                          const std::function<bool(std::string_view)>& sink, ObjectHead* head) {
  Request request{"GET", url_.keyOf(path)};
  if (offset > 0) {
    request.headers["range"] = "bytes=" + std::to_string(offset) + '-';
  }
  if (!etag.empty()) {
    request.headers["if-match"] = '"' + etag + '"';
  }
  HttpResponse response;
  bool isOther = false;
  const auto isAnotherObject = [&] {
    const std::string read = withoutQuotes(response.header("etag"));
    return !etag.empty() && !read.empty() && read != etag;
  };
  request.sink = [&](std::string_view piece) {
    if (response.header("etag").empty() || isAnotherObject()) {
      return false;
    }
    // Not the status: rclone's server says 200 for a range (1.75.2).
    const std::string start = "bytes " + std::to_string(offset) + '-';
    isOther = offset > 0 && !base::startsWith(response.header("content-range"), start);
    return !isOther && sink(piece);
  };
  StorageResult result = send(request, &response);
  if (response.status < 300 && isAnotherObject()) {
    return {Outcome::kChanged,
            {ErrorCode::kIoError,
             url_.urlOf(path) + ": " +
                 base::gotExpected("another object from " + endpoint(), "that of the list")}};
  }
  if (isOther) {
    return {Outcome::kRefused,
            {ErrorCode::kIoError, url_.urlOf(path) + ": " +
                                      base::gotExpected("the whole object from " + endpoint(),
                                                        "the range that was asked for")}};
  }
  if (head != nullptr) {
    *head = headOf(response);
  }
  return response.status == kBeyondEnd ? StorageResult() : result;
}

StorageResult Bucket::send(const Request& request, HttpResponse* response) {
  for (int attempt = 1;; ++attempt) {
    Status sent = sendOnce(request, response);
    const bool isFine = response->status >= 200 && response->status < 300;
    if (isFine && !request.key.empty() && response->header("etag").empty()) {
      return {Outcome::kFailed,
              {ErrorCode::kIoError,
               request.method + ' ' + urlOfKey(request.key) + ": " +
                   base::gotExpected("a success without an ETag from " + endpoint(),
                                     "an answer of S3, not of a proxy or another server")}};
    }
    if (!sent.ok()) {
      const Outcome outcome =
          sent.code() == ErrorCode::kIoError ? Outcome::kFailed : Outcome::kRefused;
      return {outcome, {sent.code(), url_.urlOf("") + ": " + sent.message()}};
    }
    if (isFine || attempt == kMostAttempts ||
        !learnFrom(*response, elementText(response->body, "Code"))) {
      return isFine ? StorageResult() : resultOf(request, *response);
    }
  }
}

Status Bucket::sendOnce(const Request& request, HttpResponse* response) {
  Credentials credentials;
  if (Status found = credentials_.get(&credentials); !found.ok()) {
    return found;
  }
  UrlParts parts = partsOf(endpoint());
  std::string path = parts.path;
  // Names with dots do not match the certificate of AWS's hosts.
  if (settings_.endpointUrl.empty() && url_.bucket.find_first_of("._") == std::string::npos) {
    parts.host = url_.bucket + '.' + parts.host;
  } else {
    path += '/' + uriEncoded(url_.bucket, /*keepsSlash=*/false);
  }
  path += '/' + uriEncoded(request.key, /*keepsSlash=*/true);

  SignedParts toSign{request.method, path, request.query, request.headers, {}};
  toSign.payloadHash = request.body != nullptr ? hashOf(*request.body, options_.stop)
                                               : base::hexadecimal(base::sha256({}));
  if (toSign.payloadHash.empty()) {
    return {ErrorCode::kIoError, "the file to send cannot be read, or has become shorter"};
  }
  toSign.headers["host"] = parts.host;
  toSign.headers["x-amz-content-sha256"] = toSign.payloadHash;
  toSign.headers["x-amz-date"] = amazonDate(clock_.wallSeconds() + clockOffset_);
  if (!credentials.sessionToken.empty()) {
    toSign.headers["x-amz-security-token"] = credentials.sessionToken;
  }

  HttpRequest http;
  http.method = request.method;
  const std::string query = queryText(request.query);
  http.url = parts.scheme + parts.host + path + (query.empty() ? "" : "?" + query);
  for (const auto& [name, value] : toSign.headers) {
    http.headers.push_back(name + ": " + value);
  }
  http.headers.push_back("authorization: " + authorization(toSign, credentials, region_));
  http.connectTimeout = options_.connectTimeout;
  http.stallTimeout = options_.stallTimeout;
  http.sink = request.sink;
  if (request.body != nullptr) {
    http.sourceBytes = request.body->bytes;
    http.source = request.body->read;
  }
  return http_.send(http, response);
}

/// @return whether the request has a chance now that it had not before.
bool Bucket::learnFrom(const HttpResponse& response, const std::string& code) {
  const std::string region = regionToldBy(response);
  if (settings_.endpointUrl.empty() && !region.empty() && region != region_) {
    region_ = region;
    return true;
  }
  const std::optional<double> now = secondsOf(response.header("date"));
  // 403 from S3, 400 from rclone's server (1.75.2).
  if ((response.status == 403 || response.status == 400) && now) {
    const double offset = *now - clock_.wallSeconds();
    if (std::abs(offset - clockOffset_) > kClockTolerance) {
      clockOffset_ = offset;
      return true;
    }
  }
  if (code == "ExpiredToken" || code == "RequestExpired" || code == "TokenRefreshRequired") {
    credentials_.forget();
    return true;
  }
  return false;
}

StorageResult Bucket::resultOf(const Request& request, const HttpResponse& response) const {
  const std::string code = elementText(response.body, "Code");
  const std::string said = elementText(response.body, "Message");
  std::string got = std::to_string(response.status);
  got += code.empty() ? "" : ' ' + code;
  got += said.empty() ? "" : " (" + base::replaceInvalidUtf8(said) + ')';
  const std::string what = request.method + ' ' + urlOfKey(request.key);
  const std::string server = settings_.endpointUrl.empty() ? "region " + region_ : endpoint();
  const Status status(ErrorCode::kIoError,
                      what + ": " + base::gotExpected(got + " from " + server, "success"));
  if (response.status == 412 || response.status == 409) {
    return {Outcome::kChanged, status};
  }
  const bool isOfObject = !request.key.empty() && code != "NoSuchBucket";
  if (response.status == 404 && isOfObject && (code == "NoSuchKey" || request.method != "PUT")) {
    return {Outcome::kMissing, status};
  }
  const bool isLate = response.status < 300;  // an error behind the head of a success
  return {isLate || mayPass(response.status) ? Outcome::kFailed : Outcome::kRefused, status};
}

}  // namespace steptape::detail::storage
