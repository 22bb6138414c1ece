// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cmath>

#include "turn.h"

/// Red, green and blue, each 0 to 1.
using Color = std::array<float, 3>;

/// A color of a palette that goes round once as `t` goes from 0 to 1: three cosines, each `shift`
/// behind the other. A third of a turn gives the rainbow, less the colors of dusk.
inline Color paletteColor(double t, double shift = 1.0 / 3) {
  Color color;
  for (std::size_t channel = 0; channel < color.size(); ++channel) {
    const double phase = t - shift * static_cast<double>(channel);
    color[channel] = static_cast<float>(0.5 + 0.5 * std::cos(kTurn * phase));
  }
  return color;
}
