// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "steptape/distributed/communicator.h"
#include "steptape/parallel/gradient_sync.h"

#include "parallel/bucket_chain.h"
#include "parallel/bucket_compression.h"

namespace steptape::detail {

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
