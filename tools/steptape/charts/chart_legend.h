// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tools/steptape/charts/chart.h"
#include "tools/steptape/charts/curve_style.h"
#include "tools/steptape/terminal/terminal.h"

namespace steptape::tools {

/// Returns the legend of a chart on a terminal: sample, name and summary of each curve, side by
/// side if there is room.
///
/// @param mostLines At least 1. The last line counts the curves that do not fit.
std::vector<std::string> legendLines(const Chart& chart, const CurveStyle& style,
                                     const Terminal& terminal, int mostLines);

}  // namespace steptape::tools
