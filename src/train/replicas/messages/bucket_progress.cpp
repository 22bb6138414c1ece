// SPDX-License-Identifier: Apache-2.0
#include "train/replicas/messages/bucket_progress.h"

#include <algorithm>

namespace steptape::detail::train {

void BucketProgress::noteOrder(std::size_t slot) {
  if (isReady_[slot] == 0) {
    isReady_[slot] = 1;
    order_.push_back(slot);
  }
}

void BucketProgress::assign(const std::vector<GradientBucket>& buckets) {
  for (const GradientBucket& bucket : buckets) {
    for (const std::size_t slot : bucket.slots) {
      bucketOf_[slot] = sizes_.size();
    }
    sizes_.push_back(bucket.slots.size());
  }
  startOver();
}

void BucketProgress::startOver() {
  started_ = 0;
  missing_ = sizes_;
  std::fill(isReady_.begin(), isReady_.end(), char{0});
}

void BucketProgress::setReady(std::size_t slot, bool isReady) {
  if ((isReady_[slot] != 0) != isReady) {
    isReady_[slot] = isReady ? 1 : 0;
    std::size_t& missing = missing_[bucketOf_[slot]];
    missing = isReady ? missing - 1 : missing + 1;
  }
}

}  // namespace steptape::detail::train
