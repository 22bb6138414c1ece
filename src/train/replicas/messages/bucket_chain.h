// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "steptape/ranks/communicator.h"
#include "steptape/train/gradient_sync.h"

#include "train/replicas/gradients/wire_buffer.h"
#include "train/replicas/messages/chain_queue.h"
#include "train/replicas/messages/gradient_bucket.h"

#include <c10/core/StreamGuard.h>

namespace steptape::detail::train {

/// A chain that replaces a bucket's content by a combination over the ranks.
class BucketChain : public CollectiveChain {
 public:
  /// `bucket` must outlive it.
  explicit BucketChain(const GradientBucket& bucket) : bucket_(bucket) {}

  std::optional<ChainLink> advance() final {
    // On another thread than the gradients': waits for the work that the other thread has queued.
    c10::OptionalStreamGuard guard;
    if (bucket_.stream) {
      guard.reset_stream(*bucket_.stream);
    }
    return advanceBucket();
  }

 protected:
  /// Implements advance(), with the bucket's stream as the device's current one.
  virtual std::optional<ChainLink> advanceBucket() = 0;

  const GradientBucket& bucket() const { return bucket_; }

 private:
  const GradientBucket& bucket_;
};

/// Replaces a bucket by the sum of all ranks', divided by predivideFactor, in one allreduce.
class BucketSum final : public BucketChain {
 public:
  /// `bucket` and `world` must outlive it.
  BucketSum(const GradientBucket& bucket, Communicator& world, const GradientSyncOptions& options);

 private:
  std::optional<ChainLink> advanceBucket() override;

  Communicator& world_;
  CollectiveOptions collective_;
  double predivideFactor_;
  CompressedBucket compressed_;
  bool isUnderWay_ = false;
};

}  // namespace steptape::detail::train
