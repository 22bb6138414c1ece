// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "storage/loopback_server.h"
#include "storage/own_aws_environment.h"
#include "storage/s3/aws_settings.h"

namespace steptape::test {

/// A bucket "runs" in memory, on a server of its own: lists, heads, reads and stores objects as S3
/// does, with conditions and metadata. It does not look at signatures, but at the hash of a body.
///
/// @threads Thread-safe.
class MemoryBucket {
 public:
  struct Object {
    std::string bytes;
    std::map<std::string, std::string> metadata = {};  ///< Names without "x-amz-meta-".

    std::string etag() const;
  };
  /// What other servers do.
  struct Manner {
    std::size_t pageSize = 1000;  ///< The most objects of a listing's page.
    bool knowsConditions = true;  ///< Else it ignores If-Match and If-None-Match.
    bool encodesKeys = true;      ///< Else it ignores encoding-type.
  };
  /// Is asked before a request is served, and may change the bucket. An answer is sent instead.
  using Rule = std::function<std::optional<LoopbackAnswer>(const LoopbackRequest&)>;
  /// Changes the answer of a request that was served.
  using Change = std::function<void(const LoopbackRequest&, LoopbackAnswer*)>;

  MemoryBucket();

  void behave(const Manner& manner);
  void setRule(Rule rule);
  void setChange(Change change);

  void store(const std::string& key, const Object& object);
  void store(const std::string& key, const std::string& bytes) { store(key, Object{bytes}); }
  void remove(const std::string& key);
  std::map<std::string, Object> objects() const;
  /// Returns the bytes of each object by its key.
  std::map<std::string, std::string> contents() const;

  LoopbackServer& server() { return server_; }
  /// Returns "<method> <key>" of each request so far; without a key for a listing.
  std::vector<std::string> requests() const;
  /// Forgets what requests() returns.
  void forgetRequests();

  detail::storage::AwsSettings settings() const;
  /// Makes it the server of this process.
  void useIn(OwnAwsEnvironment* environment) const;

  /// Returns an answer with S3's error of this code.
  static LoopbackAnswer error(int status, const std::string& code);

 private:
  LoopbackAnswer answer(const LoopbackRequest& request);
  LoopbackAnswer serve(const LoopbackRequest& request);
  LoopbackAnswer list(const std::map<std::string, std::string>& query) const
      STEPTAPE_REQUIRES(mutex_);
  LoopbackAnswer read(const LoopbackRequest& request, const Object& object) const
      STEPTAPE_REQUIRES(mutex_);
  LoopbackAnswer write(const LoopbackRequest& request, const std::string& key)
      STEPTAPE_REQUIRES(mutex_);

  mutable detail::base::Mutex mutex_;
  Manner manner_ STEPTAPE_GUARDED_BY(mutex_);
  Rule rule_ STEPTAPE_GUARDED_BY(mutex_);
  Change change_ STEPTAPE_GUARDED_BY(mutex_);
  std::map<std::string, Object> objects_ STEPTAPE_GUARDED_BY(mutex_);
  std::vector<std::string> requests_ STEPTAPE_GUARDED_BY(mutex_);
  LoopbackServer server_;  // destroyed first
};

}  // namespace steptape::test
