// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "figure/geometry.h"

namespace steptape::figure {

/// The points that make a line look as if all were drawn: of neighbors in one column of pixels the
/// first, the lowest, the highest and the last, in their order. Gaps are kept.
///
/// @source Jugel et al., "M4: A Visualization-Oriented Time Series Data Aggregation", VLDB 2014.
std::vector<Point> decimatedLine(const std::vector<Point>& line);

/// One of all points that lie within the same quarter of a pixel, in the order of the first of
/// each, and those only that are finite: more opaque markers would not show.
std::vector<Point> distinctPoints(const std::vector<Point>& points);

}  // namespace steptape::figure
