// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tools/steptape/charts/chart.h"
#include "tools/steptape/terminal/terminal.h"

namespace steptape::tools {

/// Draws `chart` as text: title, curves of braille dots between labeled axes, legend.
///
/// Curves differ by color, and by marks if there are no colors or too few. Without UTF-8 the chart
/// is ASCII, and curves consist of their marks.
///
/// @param terminal Its size is the size of the drawing, except for lines that the legend does not
///                 need; at least kLeastChartColumns x kLeastChartRows.
/// @return lines with newlines; none wider than the terminal.
std::string drawChart(const Chart& chart, const Terminal& terminal);

inline constexpr int kLeastChartColumns = 30;
inline constexpr int kLeastChartRows = 8;

}  // namespace steptape::tools
