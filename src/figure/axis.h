// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "steptape/figure/plot_options.h"

#include "figure/geometry.h"

namespace steptape::figure {

/// The requirements of the plots for one axis.
class AxisData {
 public:
  /// Notes a number; one that is not finite is left out.
  void include(double value);
  /// Notes a number at which the axis shall end without a margin, such as the foot of a bar.
  void includeEdge(double value);
  /// Names the places 0, 1, 2, ...; without names they are counted.
  void setCategories(std::vector<std::string> names);
  /// Only whole numbers mean something.
  void setWhole() { leastStep_ = 1; }
  /// The first place lies at the top.
  void setInverted() { inverted_ = true; }

  /// Its numbers mean nothing to people.
  void setUnmarked() { unmarked_ = true; }

  bool isUnmarked() const { return unmarked_; }
  const std::vector<std::string>& categories() const { return categories_; }
  double leastStep() const { return leastStep_; }
  bool isInverted() const { return inverted_; }

  /// The least and the largest number noted; 0 where there is none.
  std::pair<double, double> extremes() const { return {min_, max_}; }

  /// The limits that hold everything, with a margin; some where there is nothing.
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

/// The drawing of an axis.
///
/// @threads Thread-compatible: const methods may run concurrently.
struct AxisRange {
  double min = 0;
  double max = 1;
  AxisScale scale = AxisScale::kLinear;
  bool inverted = false;

  /// Where `value` lies, 0 at the begin and 1 at the end of the axis, also outside of it. NaN if it
  /// has no place.
  double fraction(double value) const;
  /// The number at `fraction`.
  double value(double fraction) const;
};

/// The axes and where they are.
///
/// @threads Thread-compatible: const methods may run concurrently.
struct Frame {
  Rect area;
  AxisRange x;
  AxisRange y;
  double pixelsPerPoint = 1;

  /// The place of a number on the canvas. NaN if it has none. Bounded, because Cairo's coordinates
  /// are: what lies a thousand screens away might as well lie further away.
  double pixelX(double value) const;
  double pixelY(double value) const;
  Point at(double xValue, double yValue) const { return {pixelX(xValue), pixelY(yValue)}; }
};

}  // namespace steptape::figure
