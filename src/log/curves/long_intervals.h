// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace steptape::detail::log {

/// A stretch of wall time.
struct TimeSpan {
  double begin;
  double end;

  double length() const { return end - begin; }
  /// Returns how much of it is in another one.
  double within(const TimeSpan& other) const {
    return std::max(0.0, std::min(end, other.end) - std::max(begin, other.begin));
  }
  /// Returns how much of it is in none of the others, which have nothing in common.
  double lengthWithout(const std::vector<TimeSpan>& others) const;
};

/// The longest times between two points of a curve, in the order of time.
class LongIntervals {
 public:
  void add(double begin, double end) {
    if (end - begin > shortest_) {
      keep({begin, end});
    }
  }

  const std::vector<TimeSpan>& spans() const { return spans_; }
  /// Returns the longest time between two points, without those in which the whole run was silent.
  double longestWithout(const std::vector<TimeSpan>& silent) const;

 private:
  void keep(const TimeSpan& span);

  std::vector<TimeSpan> spans_;
  double shortest_ = 0;  // of all that are kept, if there may be others
};

/// The times in which none of several curves has a point.
class SilentTimes {
 public:
  SilentTimes();

  /// @param whole From the first point of a curve to its last one.
  void add(const TimeSpan& whole, const LongIntervals& intervals);

  /// Returns those between the points of all curves that are longer than some time: at most the
  /// longest ones, in the order of time.
  std::vector<TimeSpan> longerThan(double time) const;

 private:
  std::vector<TimeSpan> spans_;
};

}  // namespace steptape::detail::log
