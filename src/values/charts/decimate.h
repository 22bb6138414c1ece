// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "values/charts/geometry.h"

namespace steptape::figure {

/// Returns the points of a line that are sufficient to draw it: of consecutive points in one pixel
/// column the first, the lowest, the highest and the last, in order. Gaps are kept.
///
/// @source Jugel et al., "M4: A Visualization-Oriented Time Series Data Aggregation", VLDB 2014.
std::vector<Point> decimatedLine(const std::vector<Point>& line);

/// Returns one of all finite points in the same quarter of a pixel, in the order of the first point
/// of each: further opaque markers would not be visible.
std::vector<Point> distinctPoints(const std::vector<Point>& points);

}  // namespace steptape::figure
