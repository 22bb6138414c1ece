// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/charts/chart_legend.h"

#include <algorithm>
#include <cstddef>
#include <fmt/format.h>

#include "tools/steptape/terminal/screen_text.h"

namespace steptape::tools {
namespace {

constexpr int kLegendIndent = 2;
constexpr int kColumnGap = 2;
constexpr int kSampleColumns = 2;

std::string padded(const std::string& text, int columns) {
  return text + spaces(columns - columnsOf(text));
}

struct Entry {
  std::string sample;
  std::string name;
  std::string summary;
};

/// The widths of the parts of all entries.
struct Widths {
  int name = 0;
  int summary = 0;

  int entry() const { return kLegendIndent + kSampleColumns + 1 + name + kColumnGap + summary; }
};

Widths widthsOf(const std::vector<Entry>& entries) {
  Widths widths;
  for (const Entry& entry : entries) {
    widths.name = std::max(widths.name, columnsOf(entry.name));
    widths.summary = std::max(widths.summary, columnsOf(entry.summary));
  }
  return widths;
}

}  // namespace

std::vector<std::string> legendLines(const Chart& chart, const CurveStyle& style,
                                     const Terminal& terminal, int mostLines) {
  std::vector<Entry> entries;
  for (std::size_t i = 0; i < chart.curves.size(); ++i) {
    const Curve& curve = chart.curves[i];
    entries.push_back({style.sampleOf(i) + (style.hasMarks() ? " " : ""),
                       printable(curve.name, terminal.hasUtf8),
                       printable(curve.summary, terminal.hasUtf8)});
  }
  Widths widths = widthsOf(entries);
  // Names are shortened first: a shortened number would be wrong.
  const int tooMuch = std::max(0, widths.entry() - terminal.columns);
  widths.name = std::max(std::min(widths.name, 8), widths.name - tooMuch);
  widths.summary = std::min(widths.summary, terminal.columns - (widths.entry() - widths.summary));

  const auto sideBySide = static_cast<std::size_t>(std::max(1, terminal.columns / widths.entry()));
  const auto most = static_cast<std::size_t>(mostLines) * sideBySide;
  const std::size_t shown = entries.size() <= most ? entries.size()
                            : most > sideBySide    ? most - sideBySide
                                                   : 0;
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < shown; ++i) {
    if (i % sideBySide == 0) {
      lines.emplace_back();
    }
    const Entry& entry = entries[i];
    const bool endsLine = i + 1 == shown || (i + 1) % sideBySide == 0;
    const std::string summary = fitted(entry.summary, widths.summary, terminal.hasUtf8);
    lines.back() +=
        spaces(kLegendIndent) + entry.sample + ' ' +
        padded(fitted(entry.name, widths.name, terminal.hasUtf8), widths.name + kColumnGap) +
        (endsLine ? summary : padded(summary, widths.summary));
  }
  if (shown < entries.size()) {
    lines.push_back(fmt::format("  and {} more", entries.size() - shown));
  }
  return lines;
}

}  // namespace steptape::tools
