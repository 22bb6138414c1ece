// SPDX-License-Identifier: Apache-2.0
#include "profile/recorder/overhead_governor.h"

#include <algorithm>
#include <utility>

namespace steptape::detail::profile {
namespace {

constexpr std::int64_t kMaxRecordedInARow = 7;
constexpr std::int64_t kMaxWhileComparing = 1;
constexpr double kAim = 0.8;

}  // namespace

double OverheadGovernor::Latest::median() const {
  const std::size_t kept = std::min(count_, kKept);
  std::array<double, kKept> sorted = nanos_;
  std::nth_element(sorted.begin(), sorted.begin() + kept / 2, sorted.begin() + kept);
  return sorted[kept / 2];
}

void OverheadGovernor::endRecorded(std::uint64_t spans, double stepNanos) {
  lastCostNanos_ = static_cast<double>(spans) * nanosPerSpan_;
  if (lastUnrecordedNanos_ > 0.0) {
    differences_.add(stepNanos - lastUnrecordedNanos_);
  }
  if (differences_.isEnough()) {
    const double measured = differences_.median();
    lastCostNanos_ = std::max(lastCostNanos_, measured);
    // Steps that have not been charged with the difference yet.
    const auto uncompared = static_cast<double>(std::exchange(uncomparedSteps_, 0));
    costNanos_ += std::max(0.0, uncompared * measured - uncomparedNanos_);
  } else {
    ++uncomparedSteps_;
    uncomparedNanos_ += lastCostNanos_;
  }
  ++recordedInARow_;
  lastStepNanos_ = stepNanos;
  totalNanos_ += stepNanos;
  costNanos_ += lastCostNanos_;
}

void OverheadGovernor::endUnrecorded(double stepNanos) {
  lastUnrecordedNanos_ = stepNanos;
  recordedInARow_ = 0;
  totalNanos_ += stepNanos;
}

bool OverheadGovernor::recordsNext() const {
  if (maxShare_ >= 1.0) {
    return true;
  }
  const std::int64_t inARow = differences_.isEnough() ? kMaxRecordedInARow : kMaxWhileComparing;
  return recordedInARow_ < inARow &&
         costNanos_ + lastCostNanos_ <= kAim * maxShare_ * (totalNanos_ + lastStepNanos_);
}

}  // namespace steptape::detail::profile
