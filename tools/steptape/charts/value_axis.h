// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace steptape::tools {

/// The kind of numbers along an axis, which decides which numbers are round and how labels look.
enum class AxisKind {
  kNumbers,
  kLogarithmic,  ///< Positive.
  kSteps,        ///< Whole numbers.
  kDurations,    ///< @units Seconds.
  kWallTimes,    ///< @units Seconds since 1970-01-01 UTC; read in the local time zone.
};

/// A round number on an axis, and its label: "0.25", "200k", "1h30m", "14:05".
struct Tick {
  double value;
  std::string label;
};

/// A range of numbers along one side of a chart.
class Axis {
 public:
  /// Covers [min, max], extended to a nearby round number, and more than one number even if `min`
  /// equals `max`.
  ///
  /// REQUIRES: finite numbers, min <= max, min > 0 if logarithmic.
  /// @param mostTicks Maximum number of ticks, at least 2; there may be one more at each end.
  /// @source Heckbert, "Nice Numbers for Graph Labels", Graphics Gems, 1990.
  Axis(AxisKind kind, double min, double max, int mostTicks);

  double min() const { return min_; }
  double max() const { return max_; }
  /// Returns the ticks in ascending order, all within the axis.
  const std::vector<Tick>& ticks() const { return ticks_; }

  /// Returns the position of `value`: 0 at min(), 1 at max().
  double positionOf(double value) const;

 private:
  void spread();
  void coverLinear(int mostTicks);
  void coverLogarithmic(int mostTicks);

  AxisKind kind_;
  double min_;
  double max_;
  std::vector<Tick> ticks_;
};

}  // namespace steptape::tools
