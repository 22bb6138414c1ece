// SPDX-License-Identifier: Apache-2.0
#include "profile/overhead_governor.h"

#include <algorithm>

namespace steptape::detail {
namespace {

constexpr std::int64_t kMaxRecordedInARow = 7;
constexpr std::int64_t kMaxWhileComparing = 1;

}  // namespace

double OverheadGovernor::Durations::median() const {
  std::array<double, kKept> sorted = nanos_;
  std::nth_element(sorted.begin(), sorted.begin() + kKept / 2, sorted.end());
  return sorted[kKept / 2];
}

double OverheadGovernor::measuredCost() const {
  return recorded_.isEnough() && unrecorded_.isEnough() ? recorded_.median() - unrecorded_.median()
                                                        : 0.0;
}

void OverheadGovernor::endRecorded(std::uint64_t spans, double stepNanos, double extraNanos) {
  recorded_.add(stepNanos);
  ++recordedInARow_;
  const double counted = static_cast<double>(spans) * nanosPerSpan_ + extraNanos;
  lastCostNanos_ = std::max(counted, measuredCost());
  lastStepNanos_ = stepNanos;
  totalNanos_ += stepNanos;
  costNanos_ += lastCostNanos_;
}

void OverheadGovernor::endUnrecorded(double stepNanos) {
  unrecorded_.add(stepNanos);
  recordedInARow_ = 0;
  totalNanos_ += stepNanos;
}

bool OverheadGovernor::recordsNext() const {
  if (maxShare_ >= 1.0) {
    return true;
  }
  const bool canCompare = recorded_.isEnough() && unrecorded_.isEnough();
  return recordedInARow_ < (canCompare ? kMaxRecordedInARow : kMaxWhileComparing) &&
         costNanos_ + lastCostNanos_ <= maxShare_ * (totalNanos_ + lastStepNanos_);
}

}  // namespace steptape::detail
