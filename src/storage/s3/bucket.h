// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "steptape/base/clock.h"
#include "steptape/base/export.h"
#include "steptape/base/status.h"

#include "storage/http/http_client.h"
#include "storage/s3/aws_settings.h"
#include "storage/s3/bucket_url.h"
#include "storage/s3/credentials.h"

namespace steptape::detail::storage {

/// An object as a listing shows it.
struct ObjectInfo {
  std::string path;  ///< Below the prefix of the bucket's URL.
  std::uint64_t bytes = 0;
  std::string etag;  ///< Changes with the content.
};

/// An object as a request for it alone shows it.
struct ObjectHead {
  std::uint64_t bytes = 0;
  std::string etag;
  std::map<std::string, std::string> metadata;  ///< Names in lower case, without "x-amz-meta-".
};

/// Bytes of an object, which are read twice: to sign them and to send them.
struct STEPTAPE_EXPORT ObjectBody {
  std::uint64_t bytes = 0;
  /// Reads up to `most` bytes at `offset`; 0 is a failure.
  std::function<std::size_t(std::uint64_t offset, char* out, std::size_t most)> read;
  std::map<std::string, std::string> metadata;

  /// @param bytes Outlives the body.
  static ObjectBody of(std::string_view bytes);
};

/// What became of a request.
struct StorageResult {
  enum class Outcome {
    kDone,
    kMissing,  ///< There is no such object.
    kChanged,  ///< The object is not, or no longer, what the request expects.
    kFailed,   ///< It may pass: no connection, a server that is busy.
    kRefused,  ///< It will not pass by itself: keys, rights, no such bucket, no libcurl.
  };
  Outcome outcome = Outcome::kDone;
  Status status;  ///< Ok for kDone alone; says what was asked of which server and what it answered.

  bool isDone() const { return outcome == Outcome::kDone; }
};

/// The objects of one bucket below a prefix, on AWS S3 or a server that speaks its protocol.
///
/// A request is sent again by itself only where the first answer tells how: another region, a clock
/// that is off, keys that have ended. A success without what S3 says with it, such as the page of a
/// proxy at which somebody should log in, is a failure.
///
/// @threads Not thread-safe: one thread at a time.
/// @source  https://docs.aws.amazon.com/AmazonS3/latest/API
class STEPTAPE_EXPORT Bucket {
 public:
  struct Options {
    std::chrono::milliseconds connectTimeout{10'000};
    std::chrono::milliseconds stallTimeout{30'000};
    /// Is asked about once a second. If it returns true, requests end. May be empty.
    std::function<bool()> stop;
  };

  Bucket(BucketUrl url, AwsSettings settings, Options options,
         const Clock& clock = Clock::system());

  const BucketUrl& url() const { return url_; }

  /// Lists all objects, each once, in the order of the server: by path.
  StorageResult list(const std::function<void(ObjectInfo)>& onObject);

  StorageResult head(const std::string& path, ObjectHead* head);

  /// Stores an object.
  ///
  /// @param etag Of the object that it replaces: kChanged if that is another one now. Empty: there
  ///             must be none. Servers that do not know such conditions replace it: ask head()
  ///             before.
  /// @param newEtag Receives that of the new object.
  StorageResult put(const std::string& path, const ObjectBody& body, const std::string& etag,
                    std::string* newEtag);

  /// Reads an object from `offset` on; nothing if that is its end.
  ///
  /// @param etag The object as it must be: kChanged if it is another one.
  /// @param sink Gets the bytes in pieces; false ends the transfer.
  /// @param head Receives what is read of; but for its size. May be null.
  StorageResult get(const std::string& path, std::uint64_t offset, const std::string& etag,
                    const std::function<bool(std::string_view)>& sink, ObjectHead* head = nullptr);

 private:
  struct Request;

  StorageResult send(const Request& request, HttpResponse* response);
  Status sendOnce(const Request& request, HttpResponse* response);
  bool learnFrom(const HttpResponse& response, const std::string& code);
  StorageResult resultOf(const Request& request, const HttpResponse& response) const;
  std::optional<StorageResult> otherThanList(const HttpResponse& response) const;
  std::string endpoint() const;
  std::string urlOfKey(const std::string& key) const;

  const BucketUrl url_;
  const AwsSettings settings_;
  const Options options_;
  const Clock& clock_;
  HttpClient http_;
  CredentialSource credentials_;
  std::string region_;
  double clockOffset_ = 0;       // of the server's clock, in seconds
  bool knowsConditions_ = true;  // the server, or ignores them
};

}  // namespace steptape::detail::storage
