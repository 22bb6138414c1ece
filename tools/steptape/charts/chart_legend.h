// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tools/steptape/charts/chart.h"
#include "tools/steptape/charts/curve_style.h"
#include "tools/steptape/terminal/terminal.h"

namespace steptape::tools {

/// The legend of a chart on a terminal: each curve's sample, name and summary, side by side where
/// there is room.
///
/// @param mostLines At least 1. What does not fit in is counted on the last line.
std::vector<std::string> legendLines(const Chart& chart, const CurveStyle& style,
                                     const Terminal& terminal, int mostLines);

}  // namespace steptape::tools
