// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/charts/terminal_chart.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "tools/steptape/charts/chart_legend.h"
#include "tools/steptape/charts/plot_area.h"
#include "tools/steptape/terminal/screen_text.h"

namespace steptape::tools {
namespace {

constexpr int kLeastPlotRows = 3;
/// Smaller drawings have no row for the name of the x axis.
constexpr int kLeastRowsForXName = 14;

/// Blanks between two labels of the x axis: preferred and minimum.
constexpr int kWideGap = 5;
constexpr int kNarrowGap = 2;

/// The characters that frame a plot.
struct Frame {
  const char* side;
  const char* sideTick;
  const char* corner;
  const char* bottom;
  const char* bottomTick;
};
constexpr Frame kUtf8Frame{"\u2502", "\u2524", "\u2514", "\u2500", "\u252c"};
constexpr Frame kAsciiFrame{"|", "+", "+", "-", "+"};

const Frame& frameOf(const Terminal& terminal) {
  return terminal.hasUtf8 ? kUtf8Frame : kAsciiFrame;
}

std::string centered(const std::string& text, int columns) {
  return spaces((columns - columnsOf(text)) / 2) + text;
}

/// A label of the x axis that starts at column `begin` of the plot.
struct PlacedLabel {
  std::string text;
  int begin;
};

/// Returns the labels of the x axis below their ticks, moved if they would extend beyond the right
/// edge. Labels that would overlap the previous one are omitted.
/// @param margin Free columns at the left of the plot.
/// @param gap    Minimum number of spaces between two labels.
std::vector<PlacedLabel> placedLabels(const Axis& axis, int columns, int margin, int gap) {
  std::vector<PlacedLabel> labels;
  int end = -margin;
  for (const Tick& tick : axis.ticks()) {
    const int width = columnsOf(tick.label);
    const auto tickColumn =
        static_cast<int>(std::lround(axis.positionOf(tick.value) * (columns - 1)));
    const int begin = std::clamp(tickColumn - width / 2, -margin, columns - width);
    if (begin >= end) {
      labels.push_back({tick.label, begin});
      end = begin + width + gap;
    }
  }
  return labels;
}

/// Returns the axis with the most ticks whose labels are well separated.
Axis xAxisFor(const Chart& chart, const Range& range, int columns, int margin) {
  for (int most = columns / kWideGap; most > 2; --most) {
    Axis axis(chart.xKind, range.min, range.max, most);
    if (placedLabels(axis, columns, margin, kWideGap).size() == axis.ticks().size()) {
      return axis;
    }
  }
  return {chart.xKind, range.min, range.max, 2};
}

int labelColumnsOf(const Axis& axis) {
  int columns = 0;
  for (const Tick& tick : axis.ticks()) {
    columns = std::max(columns, columnsOf(tick.label));
  }
  return columns;
}

/// Returns the labels of the y axis by the rows of the plot.
std::vector<std::string> sideLabels(const Axis& axis, const PlotArea& plot, int rows) {
  std::vector<std::string> labels(static_cast<std::size_t>(rows));
  for (const Tick& tick : axis.ticks()) {
    labels[static_cast<std::size_t>(plot.rowAt(axis.positionOf(tick.value)))] = tick.label;
  }
  return labels;
}

/// Returns the line below the plot.
std::string bottomLine(const Axis& axis, const PlotArea& plot, int columns, const Frame& frame) {
  std::vector<std::string> cells(static_cast<std::size_t>(columns), frame.bottom);
  for (const Tick& tick : axis.ticks()) {
    cells[static_cast<std::size_t>(plot.columnAt(axis.positionOf(tick.value)))] = frame.bottomTick;
  }
  std::string line = frame.corner;
  for (const std::string& cell : cells) {
    line += cell;
  }
  return line;
}

std::string labelLine(const Axis& axis, int columns, int margin) {
  std::string line = spaces(margin);
  for (const PlacedLabel& label : placedLabels(axis, columns, margin, kNarrowGap)) {
    line += spaces(margin + label.begin - columnsOf(line));
    line += label.text;
  }
  return line;
}

}  // namespace

std::string drawChart(const Chart& chart, const Terminal& terminal) {
  Terminal screen = terminal;
  screen.columns = std::max(terminal.columns, kLeastChartColumns);
  screen.rows = std::max(terminal.rows, kLeastChartRows);
  const CurveStyle style(chart.curves.size(), screen);
  const std::vector<std::string> legend =
      legendLines(chart, style, screen, std::max(1, screen.rows / 4));
  const bool hasXName = screen.rows >= kLeastRowsForXName;
  const int rows = std::max(kLeastPlotRows,
                            screen.rows - 3 - (hasXName ? 1 : 0) - static_cast<int>(legend.size()));

  const Extent extent = extentOf(chart);
  const Axis y(chart.yKind, extent.y.min, extent.y.max, std::max(3, rows / 3));
  const int labelColumns = labelColumnsOf(y);
  const int margin = labelColumns + 2;  // a space and the axis
  const int columns = std::max(kLeastChartColumns / 2, screen.columns - margin);
  const Axes axes{xAxisFor(chart, extent.x, columns, margin), y};
  const PlotArea plot(chart, axes, columns, rows, style);

  const Frame& frame = frameOf(screen);
  const std::string title =
      fitted(printable(chart.title, screen.hasUtf8), screen.columns, screen.hasUtf8);
  std::string text = style.bold(centered(title, screen.columns)) + '\n';
  const std::vector<std::string> labels = sideLabels(y, plot, rows);
  for (int row = 0; row < rows; ++row) {
    const std::string& label = labels[static_cast<std::size_t>(row)];
    text += spaces(labelColumns - columnsOf(label)) + label + ' ' +
            (label.empty() ? frame.side : frame.sideTick) + plot.row(row) + '\n';
  }
  text += spaces(margin - 1) + bottomLine(axes.x, plot, columns, frame) + '\n';
  text += labelLine(axes.x, columns, margin) + '\n';
  if (hasXName) {
    text += spaces(margin) + centered(chart.xName, columns) + '\n';
  }
  for (const std::string& line : legend) {
    text += line + '\n';
  }
  return text;
}

}  // namespace steptape::tools
