// SPDX-License-Identifier: Apache-2.0
#include "values/charts/stroke.h"

#include <string>

#include "base/got_expected.h"

namespace steptape::figure {
namespace {

void checkLength(double length, const std::string& name, const std::string& where) {
  constexpr double kLargest = 1000;
  if (!(length > 0 && length <= kLargest)) {
    detail::base::reject(name + " = " + std::to_string(length), "more than 0, at most 1000", where);
  }
}

}  // namespace

Stroke makeStroke(const Color& color, double width, std::string_view style,
                  const std::string& where) {
  checkLength(width, "width", where);
  if (style == "-") {
    return {color, width, DashStyle::kSolid};
  }
  if (style == "--") {
    return {color, width, DashStyle::kDashed};
  }
  if (style == ":") {
    return {color, width, DashStyle::kDotted};
  }
  if (style == "-.") {
    return {color, width, DashStyle::kDashDotted};
  }
  detail::base::reject("style = " + detail::base::quoted(style), R"("-", "--", ":" or "-.")",
                       where);
}

Marker makeMarker(std::string_view name, double size, const Color& color,
                  const std::string& where) {
  if (name.empty()) {
    return {};
  }
  checkLength(size, "size", where);
  const auto shape = name == "o"   ? MarkerShape::kDisc
                     : name == "s" ? MarkerShape::kSquare
                     : name == "^" ? MarkerShape::kTriangle
                     : name == "D" ? MarkerShape::kDiamond
                     : name == "+" ? MarkerShape::kPlus
                     : name == "x" ? MarkerShape::kCross
                                   : MarkerShape::kNone;
  if (shape == MarkerShape::kNone) {
    detail::base::reject("marker = " + detail::base::quoted(name),
                         R"("o", "s", "^", "D", "+" or "x")", where);
  }
  return {shape, size, color};
}

}  // namespace steptape::figure
