// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "steptape/values/figure.h"

#include "values/charts/geometry.h"

namespace steptape::figure {

/// The requirements of all plots for one axis.
class AxisData {
 public:
  /// Includes a number in the range; ignores a number that is not finite.
  void include(double value);
  /// Includes a number, such as the foot of a bar, at which the axis may end without a margin.
  void includeEdge(double value);
  /// Names the positions 0, 1, 2, ...; without names, they are numbered.
  void setCategories(std::vector<std::string> names);
  /// Allows only integers as ticks.
  void setWhole() { leastStep_ = 1; }
  /// Puts the first position at the top.
  void setInverted() { inverted_ = true; }

  /// Omits the numbers, because they have no meaning to a reader.
  void setUnmarked() { unmarked_ = true; }

  bool isUnmarked() const { return unmarked_; }
  const std::vector<std::string>& categories() const { return categories_; }
  double leastStep() const { return leastStep_; }
  bool isInverted() const { return inverted_; }

  /// Returns the minimum and the maximum of all numbers, or zeros if there are none.
  std::pair<double, double> extremes() const { return {min_, max_}; }

  /// Returns limits that include everything, with a margin, and default limits if there are no
  /// numbers.
  ///
  /// @return finite, the first below the second, and positive on a logarithmic scale.
  std::pair<double, double> limits(AxisScale scale) const;

 private:
  double min_ = 0;
  double max_ = 0;
  double minPositive_ = 0;
  bool empty_ = true;
  bool hasPositive_ = false;
  bool inverted_ = false;
  bool unmarked_ = false;
  double leastStep_ = 0;
  std::set<double> edges_;
  std::vector<std::string> categories_;
};

/// Range, scale and direction of an axis.
///
/// @threads Thread-compatible: const methods may run concurrently.
struct AxisRange {
  double min = 0;
  double max = 1;
  AxisScale scale = AxisScale::kLinear;
  bool inverted = false;

  /// Returns the position of `value`: 0 at the start and 1 at the end of the axis, also outside of
  /// it. NaN if the value has no position.
  double fraction(double value) const;
  /// Returns the number at the position `fraction`.
  double value(double fraction) const;
};

/// The axes with their position on the canvas.
///
/// @threads Thread-compatible: const methods may run concurrently.
struct Frame {
  Rect area;
  AxisRange x;
  AxisRange y;
  double pixelsPerPoint = 1;

  /// Returns the x coordinate of a number; NaN if it has none. The coordinate is bounded, because
  /// Cairo's coordinates are; far outside the canvas, the difference is invisible.
  double pixelX(double value) const;
  double pixelY(double value) const;
  Point at(double xValue, double yValue) const { return {pixelX(xValue), pixelY(yValue)}; }
};

}  // namespace steptape::figure
