// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "values/charts/color.h"

namespace steptape::figure {

enum class DashStyle { kSolid, kDashed, kDotted, kDashDotted };

/// The style of a line.
struct Stroke {
  Color color;
  double width = 1;  ///< In points.
  DashStyle dashes = DashStyle::kSolid;
};

enum class MarkerShape { kNone, kDisc, kSquare, kTriangle, kDiamond, kPlus, kCross };

/// The style of a point.
struct Marker {
  MarkerShape shape = MarkerShape::kNone;
  double size = 0;  ///< Diameter, in points.
  Color color;
};

/// @param style As LineOptions::style, but not empty.
/// @throws Error(kInvalidArgument) with `where` for an unknown style or an invalid width.
Stroke makeStroke(const Color& color, double width, std::string_view style,
                  const std::string& where);

/// @param name As ScatterOptions::marker; empty: no marker.
/// @throws Error(kInvalidArgument) with `where` for an unknown marker or an invalid size.
Marker makeMarker(std::string_view name, double size, const Color& color, const std::string& where);

}  // namespace steptape::figure
