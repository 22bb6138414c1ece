// SPDX-License-Identifier: Apache-2.0
#include "storage/memory_bucket.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/sha256.h"
#include "base/text.h"
#include "storage/s3/bucket_url.h"

#include <gtest/gtest.h>

namespace steptape::test {
namespace {

namespace storage = detail::storage;

using detail::base::MutexLock;

constexpr const char* kPath = "/runs/";
constexpr const char* kMetadata = "x-amz-meta-";
// With signs that a query must encode.
constexpr const char* kTokenStart = "after+/=";

std::string escaped(const std::string& text) {
  std::string xml;
  for (const char c : text) {
    xml += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : std::string(1, c);
  }
  return xml;
}

std::string element(const std::string& name, const std::string& text) {
  return "<" + name + ">" + text + "</" + name + ">";
}

std::string decoded(const std::string& text) {
  // Servers disagree on what it means.
  EXPECT_EQ(text.find('+'), std::string::npos) << text;
  return storage::uriDecoded(text);
}

std::map<std::string, std::string> queryOf(const std::string& target) {
  std::map<std::string, std::string> query;
  std::size_t begin = target.find('?');
  while (begin != std::string::npos) {
    const std::size_t end = target.find('&', begin + 1);
    const std::string part = target.substr(begin + 1, end - begin - 1);
    const std::size_t equals = std::min(part.find('='), part.size());
    query[decoded(part.substr(0, equals))] =
        decoded(part.substr(std::min(equals + 1, part.size())));
    begin = end;
  }
  return query;
}

/// @return the key; nothing for a request to the bucket.
std::optional<std::string> keyOf(const LoopbackRequest& request) {
  const std::string path = request.path();
  return path.size() > std::string(kPath).size()
             ? std::optional(decoded(path.substr(std::string(kPath).size())))
             : std::nullopt;
}

std::string withoutQuotes(std::string text) {
  text.erase(std::remove(text.begin(), text.end(), '"'), text.end());
  return text;
}

}  // namespace

std::string MemoryBucket::Object::etag() const {
  return detail::base::hexadecimal(detail::base::sha256(bytes)).substr(0, 32);
}

MemoryBucket::MemoryBucket()
    : server_([this](const LoopbackRequest& request) { return answer(request); }) {}

void MemoryBucket::behave(const Manner& manner) {
  const MutexLock lock(mutex_);
  manner_ = manner;
}

void MemoryBucket::setRule(Rule rule) {
  const MutexLock lock(mutex_);
  rule_ = std::move(rule);
}

void MemoryBucket::setChange(Change change) {
  const MutexLock lock(mutex_);
  change_ = std::move(change);
}

void MemoryBucket::store(const std::string& key, const Object& object) {
  const MutexLock lock(mutex_);
  objects_[key] = object;
}

void MemoryBucket::remove(const std::string& key) {
  const MutexLock lock(mutex_);
  objects_.erase(key);
}

std::map<std::string, MemoryBucket::Object> MemoryBucket::objects() const {
  const MutexLock lock(mutex_);
  return objects_;
}

std::map<std::string, std::string> MemoryBucket::contents() const {
  std::map<std::string, std::string> contents;
  for (const auto& [key, object] : objects()) {
    contents[key] = object.bytes;
  }
  return contents;
}

std::vector<std::string> MemoryBucket::requests() const {
  const MutexLock lock(mutex_);
  return requests_;
}

void MemoryBucket::forgetRequests() {
  const MutexLock lock(mutex_);
  requests_.clear();
}

storage::AwsSettings MemoryBucket::settings() const {
  storage::AwsSettings settings;
  settings.accessKeyId = "KEY";
  settings.secretAccessKey = "SECRET";
  settings.endpointUrl = server_.url();
  settings.isMetadataDisabled = true;
  return settings;
}

void MemoryBucket::useIn(OwnAwsEnvironment* environment) const {
  environment->set("AWS_ACCESS_KEY_ID", "KEY");
  environment->set("AWS_SECRET_ACCESS_KEY", "SECRET");
  environment->set("AWS_ENDPOINT_URL", server_.url());
}

LoopbackAnswer MemoryBucket::error(int status, const std::string& code) {
  LoopbackAnswer answer;
  answer.status = status;
  answer.body = element("Error", element("Code", code) + element("Message", "the reason"));
  return answer;
}

LoopbackAnswer MemoryBucket::answer(const LoopbackRequest& request) {
  Rule rule;
  Change change;
  {
    const MutexLock lock(mutex_);
    const std::optional<std::string> key = keyOf(request);
    requests_.push_back(request.method + (key ? ' ' + *key : ""));
    rule = rule_;
    change = change_;
  }
  std::optional<LoopbackAnswer> instead = rule ? rule(request) : std::optional<LoopbackAnswer>();
  if (instead) {
    return std::move(*instead);
  }
  LoopbackAnswer answer = serve(request);
  if (change) {
    change(request, &answer);
  }
  return answer;
}

LoopbackAnswer MemoryBucket::serve(const LoopbackRequest& request) {
  const MutexLock lock(mutex_);
  const std::optional<std::string> key = keyOf(request);
  if (request.path().compare(0, 5, kPath, 5) != 0) {
    return error(404, "NoSuchBucket");
  }
  if (!key) {
    return list(queryOf(request.target));
  }
  if (request.method == "PUT") {
    return write(request, *key);
  }
  const auto found = objects_.find(*key);
  return found == objects_.end() ? error(404, "NoSuchKey") : read(request, found->second);
}

LoopbackAnswer MemoryBucket::list(const std::map<std::string, std::string>& query) const {
  const auto valueOf = [&query](const std::string& name) {
    const auto found = query.find(name);
    return found == query.end() ? std::string() : found->second;
  };
  EXPECT_EQ(valueOf("list-type"), "2");
  const bool isEncoded = manner_.encodesKeys && valueOf("encoding-type") == "url";
  const std::string prefix = valueOf("prefix");
  const std::string token = valueOf("continuation-token");
  std::string xml = isEncoded ? element("EncodingType", "url") : "";
  auto object = objects_.begin();
  if (!token.empty()) {
    object = objects_.upper_bound(token.substr(std::string(kTokenStart).size()));
  }
  std::size_t count = 0;
  for (; object != objects_.end(); ++object) {
    const auto& [key, stored] = *object;
    if (!detail::base::startsWith(key, prefix)) {
      continue;
    }
    if (count++ == manner_.pageSize) {
      xml += element("IsTruncated", "true");
      xml += element("NextContinuationToken", escaped(kTokenStart + std::prev(object)->first));
      break;
    }
    const std::string shown = isEncoded ? storage::uriEncoded(key, true) : escaped(key);
    xml += element("Contents", element("Key", shown) +
                                   element("Size", std::to_string(stored.bytes.size())) +
                                   element("ETag", "&quot;" + stored.etag() + "&quot;"));
  }
  LoopbackAnswer answer;
  answer.body = "<?xml version=\"1.0\"?>\n" + element("ListBucketResult", xml);
  return answer;
}

LoopbackAnswer MemoryBucket::read(const LoopbackRequest& request, const Object& object) const {
  const std::string wanted = withoutQuotes(request.header("if-match"));
  if (manner_.knowsConditions && !wanted.empty() && wanted != object.etag()) {
    return error(412, "PreconditionFailed");
  }
  LoopbackAnswer answer;
  answer.headers.push_back("ETag: \"" + object.etag() + '"');
  for (const auto& [name, value] : object.metadata) {
    answer.headers.push_back(kMetadata + name + ": " + value);
  }
  answer.body = object.bytes;
  const std::string range = request.header("range");
  if (range.empty()) {
    return answer;
  }
  EXPECT_EQ(range.compare(0, 6, "bytes="), 0) << range;
  const std::size_t dash = range.find('-');
  const std::size_t begin = std::stoul(range.substr(6, dash - 6));
  if (begin >= object.bytes.size()) {
    return error(416, "InvalidRange");
  }
  const std::string last = range.substr(dash + 1);
  answer.status = 206;
  answer.body =
      object.bytes.substr(begin, last.empty() ? std::string::npos : std::stoul(last) - begin + 1);
  answer.headers.push_back("Content-Range: bytes " + std::to_string(begin) + '-' +
                           std::to_string(begin + answer.body.size() - 1) + '/' +
                           std::to_string(object.bytes.size()));
  return answer;
}

LoopbackAnswer MemoryBucket::write(const LoopbackRequest& request, const std::string& key) {
  const auto before = objects_.find(key);
  if (manner_.knowsConditions) {
    const std::string wanted = withoutQuotes(request.header("if-match"));
    if (!wanted.empty() && before == objects_.end()) {
      return error(404, "NoSuchKey");
    }
    if ((!wanted.empty() && wanted != before->second.etag()) ||
        (request.header("if-none-match") == "*" && before != objects_.end())) {
      return error(412, "PreconditionFailed");
    }
  }
  if (request.header("x-amz-content-sha256") !=
      detail::base::hexadecimal(detail::base::sha256(request.body))) {
    return error(400, "XAmzContentSHA256Mismatch");
  }
  Object object{request.body};
  for (const auto& [name, value] : request.headers) {
    if (detail::base::startsWith(name, kMetadata)) {
      object.metadata[name.substr(std::string(kMetadata).size())] = value;
    }
  }
  LoopbackAnswer answer;
  answer.headers.push_back("ETag: \"" + object.etag() + '"');
  objects_[key] = std::move(object);
  return answer;
}

}  // namespace steptape::test
