// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace steptape::detail::profile {

/// Start and end.
using TimeInterval = std::pair<std::int64_t, std::int64_t>;

/// Sorts intervals and merges those that touch.
inline void unite(std::vector<TimeInterval>* intervals) {
  std::sort(intervals->begin(), intervals->end());
  std::size_t size = 0;
  for (const TimeInterval& each : *intervals) {
    if (size != 0 && each.first <= (*intervals)[size - 1].second) {
      (*intervals)[size - 1].second = std::max((*intervals)[size - 1].second, each.second);
    } else {
      (*intervals)[size++] = each;
    }
  }
  intervals->resize(size);
}

/// Compares an interval with others. Each interval must begin at or after the previous one.
class CommonTime {
 public:
  /// @param united See unite(). Must outlive this object.
  explicit CommonTime(const std::vector<TimeInterval>& united) : united_(united) {}

  /// Returns how long both last.
  std::int64_t with(const TimeInterval& interval) {
    while (next_ < united_.size() && united_[next_].second <= interval.first) {
      ++next_;
    }
    std::int64_t sum = 0;
    for (std::size_t i = next_; i < united_.size() && united_[i].first < interval.second; ++i) {
      sum +=
          std::min(interval.second, united_[i].second) - std::max(interval.first, united_[i].first);
    }
    return sum;
  }

 private:
  const std::vector<TimeInterval>& united_;
  std::size_t next_ = 0;
};

/// Returns the time of `from` outside `removed`. Both are united, see unite().
inline std::vector<TimeInterval> without(const std::vector<TimeInterval>& from,
                                         const std::vector<TimeInterval>& removed) {
  std::vector<TimeInterval> rest;
  auto next = removed.begin();
  for (auto [start, end] : from) {
    for (; next != removed.end() && next->first < end; ++next) {
      if (start < next->first) {
        rest.emplace_back(start, next->first);
      }
      start = std::max(start, next->second);
      if (next->second > end) {
        break;  // it may reach into the next interval
      }
    }
    if (start < end) {
      rest.emplace_back(start, end);
    }
  }
  return rest;
}

}  // namespace steptape::detail::profile
