// SPDX-License-Identifier: Apache-2.0
#include "profile/recorder/coverage.h"

#include <algorithm>

namespace steptape::detail::profile {
namespace {

constexpr std::size_t kMaxIntervals = 65536;

}  // namespace

void Coverage::add(ArrayView<const SpanRecord> records, std::uint64_t windowStartTicks) {
  // Backward, parents come before their children, which are then skipped by a comparison.
  std::uint64_t coveredFrom = ~std::uint64_t{0};
  const std::uint64_t from = std::max(windowStartTicks, finalUntil_);
  found_.clear();
  for (std::size_t i = records.size(); i-- > 0;) {
    const SpanRecord& record = records[i];
    if (record.kind == SpanKind::kMemory) {
      continue;
    }
    const std::uint64_t start = std::max(record.startTicks, finalUntil_);
    if (record.startTicks < windowStartTicks || start >= coveredFrom || record.endTicks <= from) {
      continue;
    }
    found_.push_back({start, std::min(record.endTicks, coveredFrom)});
    coveredFrom = start;
  }
  mergeFound();
  if (intervals_.size() > kMaxIntervals) {
    const auto keep = intervals_.end() - kMaxIntervals / 2;
    for (auto interval = intervals_.begin(); interval != keep; ++interval) {
      finalTicks_ += interval->end - interval->start;
      finalUntil_ = interval->end;
    }
    intervals_.erase(intervals_.begin(), keep);
  }
}

std::uint64_t Coverage::ticks() const {
  std::uint64_t ticks = finalTicks_;
  for (const Interval& interval : intervals_) {
    ticks += interval.end - interval.start;
  }
  return ticks;
}

void Coverage::mergeFound() {
  if (found_.empty()) {
    return;
  }
  const auto startsEarlier = [](const Interval& a, const Interval& b) { return a.start < b.start; };
  // Earlier intervals end before the new ones start, or overlap them near the end.
  const auto touched =
      std::upper_bound(intervals_.begin(), intervals_.end(), found_.back(), startsEarlier);
  const auto first = static_cast<std::size_t>(touched - intervals_.begin());
  const auto middle = static_cast<std::ptrdiff_t>(intervals_.size());
  intervals_.insert(intervals_.end(), found_.rbegin(), found_.rend());
  std::inplace_merge(intervals_.begin() + static_cast<std::ptrdiff_t>(first),
                     intervals_.begin() + middle, intervals_.end(), startsEarlier);
  std::size_t merged = first == 0 ? 0 : first - 1;
  for (std::size_t i = merged + 1; i < intervals_.size(); ++i) {
    if (intervals_[i].start <= intervals_[merged].end) {
      intervals_[merged].end = std::max(intervals_[merged].end, intervals_[i].end);
    } else {
      intervals_[++merged] = intervals_[i];
    }
  }
  intervals_.resize(merged + 1);
}

}  // namespace steptape::detail::profile
