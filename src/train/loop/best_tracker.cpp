// SPDX-License-Identifier: Apache-2.0
#include "train/loop/best_tracker.h"

#include <cmath>

namespace steptape::detail::train {

bool BestTracker::observe(double value, std::int64_t step) {
  const double gain = higherIsBetter_ ? value - best_.value : best_.value - value;
  const bool isFirst = std::isnan(best_.value) && !std::isnan(value);
  if (isFirst || gain > options_.minDelta) {
    best_ = {value, step, 0};
    return true;
  }
  ++best_.evaluationsSince;
  return false;
}

}  // namespace steptape::detail::train
