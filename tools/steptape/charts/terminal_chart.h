// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tools/steptape/charts/chart.h"
#include "tools/steptape/terminal/terminal.h"

namespace steptape::tools {

/// Draws `chart` as text: title, curves of braille dots between labeled axes, legend.
///
/// Curves differ by color; where there is none, or not enough, by marks on them. Without UTF-8 all
/// is ASCII, and curves are made of their marks.
///
/// @param terminal Its size is the drawing's, but for lines that the legend does not need; at least
///                 kLeastChartColumns x kLeastChartRows of it are used.
/// @return lines, each ended; none wider than the terminal.
std::string drawChart(const Chart& chart, const Terminal& terminal);

inline constexpr int kLeastChartColumns = 30;
inline constexpr int kLeastChartRows = 8;

}  // namespace steptape::tools
