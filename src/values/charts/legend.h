// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "values/charts/canvas.h"
#include "values/charts/plot.h"

namespace steptape::figure {

/// The layout of a legend.
///
/// @threads Not thread-safe: one thread at a time.
class Legend {
 public:
  /// @param keys Keys of the plots that have a label; at least one.
  /// @param area Area for the legend; names are truncated to a share of its width.
  Legend(std::vector<LegendKey> keys, const Rect& area, Canvas* canvas);

  /// Chooses the legend's position so that it hides little of what is already drawn.
  ///
  /// @return the share that it hides, from 0 to 1.
  double place(LegendPlace place, const Rect& area);
  /// Puts the legend at the right end of `cell`. `area`, the area of the axes, leaves outerWidth()
  /// free.
  void placeBeside(const Rect& area, const Rect& cell);
  /// Returns the width including the margin.
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
