// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "steptape/comm/communicator.h"
#include "steptape/parallel/gradient_sync.h"

#include "parallel/gradients/wire_buffer.h"
#include "parallel/messages/chain_queue.h"
#include "parallel/messages/gradient_bucket.h"

#include <c10/core/StreamGuard.h>

namespace steptape::detail {

/// A chain that replaces what lies in a bucket by what the ranks make of it together.
class BucketChain : public CollectiveChain {
 public:
  /// `bucket` must live as long.
  explicit BucketChain(const GradientBucket& bucket) : bucket_(bucket) {}

  std::optional<ChainLink> advance() final {
    // On another thread than the gradients': after the work that the other has queued.
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

/// Makes a bucket the sum of all ranks', divided by predivideFactor, in one allreduce.
class BucketSum final : public BucketChain {
 public:
  /// `bucket` and `world` must live as long.
  BucketSum(const GradientBucket& bucket, Communicator& world, const GradientSyncOptions& options);

 private:
  std::optional<ChainLink> advanceBucket() override;

  Communicator& world_;
  CollectiveOptions collective_;
  double predivideFactor_;
  CompressedBucket compressed_;
  bool isUnderWay_ = false;
};

}  // namespace steptape::detail
