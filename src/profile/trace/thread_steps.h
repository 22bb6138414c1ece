// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

#include "steptape/profile/trace.h"

namespace steptape::detail::profile {

/// Searches the steps of one thread by time.
class ThreadSteps {
 public:
  ThreadSteps(const Trace& trace, std::size_t thread) {
    std::copy_if(trace.steps.begin(), trace.steps.end(), std::back_inserter(steps_),
                 [&](const TraceStep& step) { return step.thread == thread; });
  }

  const std::vector<TraceStep>& all() const { return steps_; }

  /// Returns whether `span` crosses an end of a step: starts inside and ends outside, or the
  /// reverse.
  bool areCrossedBy(const TraceSpan& span) {
    const std::int64_t end = span.start + span.duration;
    const TraceStep* const atStart = lastBefore(span.start);
    const TraceStep* const atEnd = lastBefore(end);
    return (atStart != nullptr && span.start < endOf(*atStart) && endOf(*atStart) < end) ||
           (atEnd != nullptr && span.start < atEnd->start && end < endOf(*atEnd));
  }

 private:
  static std::int64_t endOf(const TraceStep& step) { return step.start + step.duration; }

  /// Times mostly increase, so the previous result is likely to be right.
  const TraceStep* lastBefore(std::int64_t time) {
    const auto isBefore = [time](const TraceStep& step) { return step.start < time; };
    const bool isKnown = (stepsBefore_ == 0 || isBefore(steps_[stepsBefore_ - 1])) &&
                         (stepsBefore_ == steps_.size() || !isBefore(steps_[stepsBefore_]));
    if (!isKnown) {
      stepsBefore_ = static_cast<std::size_t>(
          std::partition_point(steps_.begin(), steps_.end(), isBefore) - steps_.begin());
    }
    return stepsBefore_ == 0 ? nullptr : &steps_[stepsBefore_ - 1];
  }

  std::vector<TraceStep> steps_;
  std::size_t stepsBefore_ = 0;  // the time: the index of the first step after it
};

}  // namespace steptape::detail::profile
