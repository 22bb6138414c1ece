// SPDX-License-Identifier: Apache-2.0
#include "train/replicas/messages/bucket_chain.h"

namespace steptape::detail::train {

BucketSum::BucketSum(const GradientBucket& bucket, Communicator& world,
                     const GradientSyncOptions& options)
    : BucketChain(bucket),
      world_(world),
      predivideFactor_(options.predivideFactor),
      compressed_(bucket.memory, options.compression) {
  collective_.name = bucket.name;
}

std::optional<ChainLink> BucketSum::advanceBucket() {
  isUnderWay_ = !isUnderWay_;
  if (!isUnderWay_) {
    compressed_.decompress();
    return std::nullopt;
  }
  if (predivideFactor_ != 1) {
    bucket().memory.div_(predivideFactor_);
  }
  compressed_.compress();
  return ChainLink{
      world_.allreduceAsync(compressed_.wire().elements(), ReduceOp::kSum, collective_), true};
}

}  // namespace steptape::detail::train
