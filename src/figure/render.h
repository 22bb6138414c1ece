// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "steptape/summary/figure_traits.h"

#include "figure/canvas.h"
#include "figure/geometry.h"
#include "figure/model.h"

namespace steptape::figure {

inline constexpr double kTitleSize = 11.5;
inline constexpr double kAxisLabelSize = 10;
inline constexpr double kTickSize = 9;

/// Draws a figure into `cell`, whose parts are whole numbers; its own size is not used.
void drawFigure(const FigureModel& model, const Rect& cell, Canvas* canvas);

/// Returns the drawing as a file.
PngImage encoded(Canvas* canvas);

/// Checks the size of a picture.
///
/// @throws Error(kInvalidArgument) with `where` if a side or the resolution is out of its range.
void checkCanvas(int width, int height, double dpi, const std::string& where);

}  // namespace steptape::figure
