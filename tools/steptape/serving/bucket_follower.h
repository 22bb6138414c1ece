// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "server/store/log_store.h"

namespace steptape::tools {

/// Follows those log directories that are in buckets, on a thread of its own, so that a store which
/// follows directories serves them.
class BucketFollower {
 public:
  /// Replaces the URLs of buckets in `options` by directories, and starts to fill these. Reads
  /// everything at once if LogStoreOptions::once is set.
  ///
  /// @throws Error(kInvalidArgument) for a URL without a bucket.
  explicit BucketFollower(steptape::detail::server::LogStoreOptions* options);
  BucketFollower(const BucketFollower&) = delete;
  BucketFollower& operator=(const BucketFollower&) = delete;
  ~BucketFollower();

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

}  // namespace steptape::tools
