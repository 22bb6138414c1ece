// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "figure/canvas.h"
#include "figure/plot.h"

namespace steptape::figure {

/// The layout of the names of plots in a legend.
///
/// @threads Not thread-safe: one thread at a time.
class Legend {
 public:
  /// @param keys Those of the plots that have a label; at least one.
  /// @param area What it lies in; names are shortened to a part of its width.
  Legend(std::vector<LegendKey> keys, const Rect& area, Canvas* canvas);

  /// Chooses the legend's place over what is drawn there already.
  ///
  /// @return how much of it that hides, from 0 to 1.
  double place(LegendPlace place, const Rect& area);
  /// Puts the legend at the right end of `cell`, whose axes `area` leave it outerWidth().
  void placeBeside(const Rect& area, const Rect& cell);
  /// With the margin around it.
  double outerWidth() const;
  double outerHeight() const;
  void draw();

 private:
  Rect rectAt(double x, double y, const Rect& area) const;
  void drawBox();

  std::vector<LegendKey> keys_;
  Canvas* canvas_;
  double beforeText_ = 0;
  Rect rect_;
};

}  // namespace steptape::figure
