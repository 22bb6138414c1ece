// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "steptape/values/figure_traits.h"

#include "values/charts/canvas.h"
#include "values/charts/geometry.h"
#include "values/charts/model.h"

namespace steptape::figure {

inline constexpr double kTitleSize = 11.5;
inline constexpr double kAxisLabelSize = 10;
inline constexpr double kTickSize = 9;

/// Draws a figure into `cell`, which has integral coordinates; ignores the figure's own size.
void drawFigure(const FigureModel& model, const Rect& cell, Canvas* canvas);

/// Returns the drawing as a PNG file.
PngImage encoded(Canvas* canvas);

/// Checks the size of a figure.
///
/// @throws Error(kInvalidArgument) with `where` if a side or the resolution is out of range.
void checkCanvas(int width, int height, double dpi, const std::string& where);

}  // namespace steptape::figure
