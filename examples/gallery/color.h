// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cmath>

#include "turn.h"

/// Red, green and blue, each from 0 to 1.
using Color = std::array<float, 3>;

/// Returns a color of a cyclic palette, which repeats when `t` goes from 0 to 1. Each channel is a
/// cosine, shifted by `shift` from the channel before it. A shift of 1/3 gives a rainbow; smaller
/// ones give softer colors.
inline Color paletteColor(double t, double shift = 1.0 / 3) {
  Color color;
  for (std::size_t channel = 0; channel < color.size(); ++channel) {
    const double phase = t - shift * static_cast<double>(channel);
    color[channel] = static_cast<float>(0.5 + 0.5 * std::cos(kTurn * phase));
  }
  return color;
}
