// SPDX-License-Identifier: Apache-2.0
#include "profile/overhead_governor.h"

namespace steptape::detail {

void OverheadGovernor::endRecorded(std::uint64_t spans, double stepNanos, double extraNanos) {
  lastCostNanos_ = static_cast<double>(spans) * nanosPerSpan_ + extraNanos;
  lastStepNanos_ = stepNanos;
  totalNanos_ += stepNanos;
  costNanos_ += lastCostNanos_;
}

bool OverheadGovernor::recordsNext() const {
  return costNanos_ + lastCostNanos_ <= maxShare_ * (totalNanos_ + lastStepNanos_);
}

}  // namespace steptape::detail
