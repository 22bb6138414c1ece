// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "train/replicas/messages/gradient_bucket.h"

namespace steptape::detail::train {

/// Which gradients are in the memory of their buckets, and how many buckets have started. Buckets
/// start in their order.
///
/// @threads Not thread-safe: one thread at a time.
class BucketProgress {
 public:
  static constexpr std::size_t kNoBucket = static_cast<std::size_t>(-1);

  explicit BucketProgress(std::size_t slots) : bucketOf_(slots, kNoBucket), isReady_(slots, 0) {}

  /// Records that the gradient of a slot is ready, before there are buckets.
  void noteOrder(std::size_t slot);
  /// Returns the slots in the order of their first noteOrder().
  const std::vector<std::size_t>& order() const { return order_; }

  /// Assigns the slots to buckets, of which none has started.
  void assign(const std::vector<GradientBucket>& buckets);
  /// Begins anew: no bucket has started, and no gradient is ready.
  void startOver();

  /// Returns kNoBucket for a slot that is in none.
  std::size_t bucketOf(std::size_t slot) const { return bucketOf_[slot]; }
  bool isReady(std::size_t slot) const { return isReady_[slot] != 0; }
  void setReady(std::size_t slot, bool isReady);

  /// Returns how many buckets have started.
  std::size_t started() const { return started_; }
  bool haveAllStarted() const { return started_ == missing_.size(); }
  /// Returns whether there is a next bucket, and all of its gradients are ready.
  bool isNextComplete() const { return !haveAllStarted() && missing_[started_] == 0; }
  /// Records that the next bucket has started.
  void noteStarted() { ++started_; }

 private:
  std::vector<std::size_t> order_;
  std::vector<std::size_t> bucketOf_;  // by slot
  std::vector<char> isReady_;          // by slot
  std::vector<std::size_t> sizes_;     // by bucket, the number of its slots
  std::vector<std::size_t> missing_;   // by bucket, the number of slots that are not ready
  std::size_t started_ = 0;
};

}  // namespace steptape::detail::train
