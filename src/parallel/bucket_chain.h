// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "parallel/collective_chain.h"
#include "parallel/gradient_bucket.h"

#include <c10/core/StreamGuard.h>

namespace steptape::detail {

/// A chain that replaces what lies in a bucket by what the ranks make of it together.
class BucketChain : public CollectiveChain {
 public:
  /// `bucket` must live as long.
  explicit BucketChain(const GradientBucket& bucket) : bucket_(bucket) {}

  std::optional<ChainLink> advance() final {
    // On another thread than the gradients': behind what that one has queued.
    c10::OptionalStreamGuard guard;
    if (bucket_.stream) {
      guard.reset_stream(*bucket_.stream);
    }
    return advanceBucket();
  }

 protected:
  /// As advance(), with the bucket's queue as the device's current one.
  virtual std::optional<ChainLink> advanceBucket() = 0;

  const GradientBucket& bucket() const { return bucket_; }

 private:
  const GradientBucket& bucket_;
};

}  // namespace steptape::detail
