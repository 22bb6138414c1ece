// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "steptape/base/array_view.h"

#include "values/charts/color.h"

namespace steptape::figure {

/// Maps numbers to colors.
///
/// @threads Thread-compatible: const methods may run concurrently.
class Colormap {
 public:
  /// @param name A colormap listed in <steptape/values/figure.h>.
  /// @throws Error(kInvalidArgument) with `where`, the name and the known names.
  Colormap(std::string_view name, const std::string& where);

  /// Returns the color at `fraction`, which is clamped to 0..1, linearly interpolated between two
  /// published colors.
  Color at(double fraction) const;

 private:
  ArrayView<const unsigned> colors_;  ///< 0xRRGGBB at equal distances.
  bool reversed_ = false;
};

}  // namespace steptape::figure
