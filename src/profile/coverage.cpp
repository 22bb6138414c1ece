// SPDX-License-Identifier: Apache-2.0
#include "profile/coverage.h"

#include <algorithm>

namespace steptape::detail {
namespace {

constexpr std::size_t kMaxIntervals = 65536;

}  // namespace

void Coverage::add(Span<const SpanRecord> records, std::uint64_t windowStartTicks) {
  // From the back parents come before their children, which a comparison then skips.
  std::uint64_t coveredFrom = ~std::uint64_t{0};
  const std::uint64_t from = std::max(windowStartTicks, finalUntil_);
  for (std::size_t i = records.size(); i-- > 0;) {
    const SpanRecord& record = records[i];
    const std::uint64_t start = std::max(record.startTicks, finalUntil_);
    if (record.startTicks < windowStartTicks || start >= coveredFrom || record.endTicks <= from) {
      continue;
    }
    intervals_.push_back({start, std::min(record.endTicks, coveredFrom)});
    coveredFrom = start;
  }
  if (intervals_.size() <= kMaxIntervals) {
    return;
  }
  merge(intervals_);
  if (intervals_.size() > kMaxIntervals / 2) {
    const auto keep = intervals_.end() - kMaxIntervals / 2;
    for (auto interval = intervals_.begin(); interval != keep; ++interval) {
      finalTicks_ += interval->end - interval->start;
      finalUntil_ = interval->end;
    }
    intervals_.erase(intervals_.begin(), keep);
  }
}

std::uint64_t Coverage::ticks() const {
  std::vector<Interval> intervals = intervals_;
  merge(intervals);
  std::uint64_t ticks = finalTicks_;
  for (const Interval& interval : intervals) {
    ticks += interval.end - interval.start;
  }
  return ticks;
}

void Coverage::merge(std::vector<Interval>& intervals) {
  std::sort(intervals.begin(), intervals.end(),
            [](const Interval& a, const Interval& b) { return a.start < b.start; });
  std::size_t merged = 0;
  for (const Interval& interval : intervals) {
    if (merged > 0 && interval.start <= intervals[merged - 1].end) {
      intervals[merged - 1].end = std::max(intervals[merged - 1].end, interval.end);
    } else {
      intervals[merged++] = interval;
    }
  }
  intervals.resize(merged);
}

}  // namespace steptape::detail
