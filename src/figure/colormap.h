// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "steptape/base/array_view.h"

#include "figure/color.h"

namespace steptape::figure {

/// Turns numbers into colors.
///
/// @threads Thread-compatible: const methods may run concurrently.
class Colormap {
 public:
  /// @param name As plot_options.h lists them.
  /// @throws Error(kInvalidArgument) with `where`, the name and the known ones.
  Colormap(std::string_view name, const std::string& where);

  /// The color at `fraction`, which is clamped to 0..1: between two of the published colors it is
  /// interpolated linearly.
  Color at(double fraction) const;

 private:
  ArrayView<const unsigned> colors_;  ///< 0xRRGGBB at equal distances.
  bool reversed_ = false;
};

}  // namespace steptape::figure
