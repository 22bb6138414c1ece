// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/charts/svg_chart.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <fmt/format.h>
#include <string_view>

#include "tools/steptape/terminal/screen_text.h"

namespace steptape::tools {
namespace {

// Lengths in pixels.
constexpr double kWidth = 800;
constexpr double kPlotHeight = 320;
constexpr double kTop = 44;  // the title
constexpr double kRight = 24;
constexpr double kBelowPlot = 64;  // labels and name of the x axis
constexpr double kLegendLine = 20;
constexpr double kBottom = 16;
constexpr double kDigitWidth = 7;
constexpr double kTitleCharacterWidth = 11;
constexpr double kLegendText = 32;  // from the start of the line's sample
constexpr double kLegendGap = 12;   // between name and summary

/// Dark enough for thin lines on white, in the order of curve_style.cpp: blue, orange, green, red,
/// purple, teal, brown, pink.
constexpr std::array<const char*, 8> kColors{"#1f77b4", "#d9690a", "#2a8f2a", "#d6275a",
                                             "#8250c4", "#0f8f8f", "#8c564b", "#d157a6"};
/// For curves that share a color with an earlier one.
constexpr std::array<const char*, 4> kDashes{"", "6 3", "2 3", "8 3 2 3"};

/// Text escaped for XML, without the characters that XML forbids.
/// @source W3C, "Extensible Markup Language (XML) 1.0", 2.2 and 2.4
std::string escaped(std::string_view text) {
  std::string out;
  const std::string shown = printable(text, true);
  for (std::size_t i = 0; i < shown.size(); ++i) {
    switch (shown[i]) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += shown[i];
    }
  }
  for (const char* forbidden : {"\uFFFE", "\uFFFF"}) {
    for (std::size_t at = out.find(forbidden); at != std::string::npos; at = out.find(forbidden)) {
      out.replace(at, 3, "\uFFFD");
    }
  }
  return out;
}

/// Returns `text`, shortened to fit into `pixels` if its characters have the usual width.
std::string cut(const std::string& text, double pixels, double characterWidth) {
  return escaped(fitted(printable(text, true), static_cast<int>(pixels / characterWidth), true));
}

std::string strokeOf(std::size_t curve) {
  const char* dashes = kDashes[curve / kColors.size() % kDashes.size()];
  std::string stroke = fmt::format("stroke=\"{}\"", kColors[curve % kColors.size()]);
  return *dashes == '\0' ? stroke : stroke + fmt::format(" stroke-dasharray=\"{}\"", dashes);
}

double heightOf(const Chart& chart) {
  return kTop + kPlotHeight + kBelowPlot + kLegendLine * static_cast<double>(chart.curves.size()) +
         kBottom;
}

/// One chart, with the position of its plot.
class SvgChart {
 public:
  explicit SvgChart(const Chart& chart)
      : chart_(chart), axes_(axesFor(chart)), left_(leftMargin(axes_.y)) {}

  std::string text() const {
    std::string svg = fmt::format(
        "<text x=\"{}\" y=\"26\" text-anchor=\"middle\" font-size=\"16\" "
        "font-weight=\"bold\">{}</text>\n",
        kWidth / 2, cut(chart_.title, kWidth, kTitleCharacterWidth));
    svg += yAxis() + xAxis();
    for (std::size_t i = 0; i < chart_.curves.size(); ++i) {
      const Curve& curve = chart_.curves[i];
      svg += lines(curve, curve.raw, i, "stroke-opacity=\"0.3\" ");
      svg += lines(curve, curve.y, i, "");
      svg += legendEntry(i);
    }
    return svg;
  }

 private:
  static Axes axesFor(const Chart& chart) {
    const Extent extent = extentOf(chart);
    const Axis y(chart.yKind, extent.y.min, extent.y.max, 7);
    return {xAxisFor(chart, extent.x, plotWidth(leftMargin(y))), y};
  }

  /// Returns the axis with the most ticks, up to nine, whose labels are well separated.
  static Axis xAxisFor(const Chart& chart, const Range& range, double width) {
    constexpr double kGap = 24;
    for (int most = 9; most > 2; --most) {
      Axis axis(chart.xKind, range.min, range.max, most);
      const auto ticks = static_cast<double>(axis.ticks().size());
      if (ticks * (widestLabel(axis) + kGap) <= width) {
        return axis;
      }
    }
    return {chart.xKind, range.min, range.max, 2};
  }

  static double widestLabel(const Axis& axis) {
    int characters = 0;
    for (const Tick& tick : axis.ticks()) {
      characters = std::max(characters, columnsOf(tick.label));
    }
    return kDigitWidth * characters;
  }

  static double leftMargin(const Axis& axis) { return 24 + widestLabel(axis); }

  static double plotWidth(double left) { return kWidth - left - kRight; }
  double plotWidth() const { return plotWidth(left_); }

  std::string yAxis() const {
    std::string svg;
    for (const Tick& tick : axes_.y.ticks()) {
      const double y = kTop + (1 - axes_.y.positionOf(tick.value)) * kPlotHeight;
      svg += fmt::format(
          "<line x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{2:.1f}\" y2=\"{1:.1f}\" stroke=\"#e4e4e4\"/>"
          "<text x=\"{3:.1f}\" y=\"{4:.1f}\" text-anchor=\"end\">{5}</text>\n",
          left_, y, left_ + plotWidth(), left_ - 8, y + 4, tick.label);
    }
    return svg;
  }

  std::string xAxis() const {
    const double bottom = kTop + kPlotHeight;
    std::string svg;
    for (const Tick& tick : axes_.x.ticks()) {
      const double x = left_ + axes_.x.positionOf(tick.value) * plotWidth();
      // Below its tick, unless it would extend beyond the image.
      const double half = kDigitWidth * columnsOf(tick.label) / 2;
      svg += fmt::format(
          "<line x1=\"{0:.1f}\" y1=\"{1}\" x2=\"{0:.1f}\" y2=\"{2}\" stroke=\"#e4e4e4\"/>"
          "<text x=\"{3:.1f}\" y=\"{4}\" text-anchor=\"middle\">{5}</text>\n",
          x, kTop, bottom, std::clamp(x, half, kWidth - half), bottom + 18, tick.label);
    }
    svg += fmt::format("<path d=\"M{0:.1f} {1}V{2}H{3:.1f}\" fill=\"none\" stroke=\"#888\"/>\n",
                       left_, kTop, bottom, left_ + plotWidth());
    svg += fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n",
                       left_ + plotWidth() / 2, bottom + 40, escaped(chart_.xName));
    return svg;
  }

  std::string lines(const Curve& curve, const std::vector<double>& y, std::size_t index,
                    const char* attributes) const {
    // Two columns per pixel, for high-resolution screens.
    const auto columns = static_cast<int>(2 * plotWidth());
    std::string svg;
    for (const std::vector<Place>& line :
         linesOf(chart_, axes_, curve.x, y, plotWidth(), kPlotHeight, columns)) {
      std::string points;
      for (const Place& place : line) {
        points += fmt::format("{:.2f},{:.2f} ", left_ + place.x, kTop + place.y);
      }
      points.pop_back();
      if (line.size() == 1) {  // a line without length is invisible
        points += ' ' + points;
      }
      svg += fmt::format("<polyline points=\"{}\" fill=\"none\" {} {}stroke-width=\"{}\"/>\n",
                         points, strokeOf(index), attributes, line.size() == 1 ? 5 : 1.75);
    }
    return svg;
  }

  std::string legendEntry(std::size_t index) const {
    const Curve& curve = chart_.curves[index];
    const double y = kTop + kPlotHeight + kBelowPlot + kLegendLine * static_cast<double>(index);
    const double nameWidth = kWidth - left_ - kLegendText - kLegendGap -
                             kDigitWidth * columnsOf(printable(curve.summary, true));
    return fmt::format(
        "<line x1=\"{0:.1f}\" y1=\"{1}\" x2=\"{2:.1f}\" y2=\"{1}\" {3} stroke-width=\"3\"/>"
        "<text x=\"{4:.1f}\" y=\"{5}\">{6}<tspan dx=\"{7}\" fill=\"#666\">{8}</tspan></text>\n",
        left_, y, left_ + 24, strokeOf(index), left_ + kLegendText, y + 4,
        cut(curve.name, nameWidth, kDigitWidth), kLegendGap, escaped(curve.summary));
  }

  const Chart& chart_;
  Axes axes_;
  double left_;
};

std::string titleOf(const std::vector<Chart>& charts) {
  std::string title;
  for (const Chart& chart : charts) {
    title += (title.empty() ? "" : ", ") + chart.title;
  }
  return title;
}

}  // namespace

std::string svgOf(const std::vector<Chart>& charts) {
  double height = 0;
  std::string drawings;
  for (const Chart& chart : charts) {
    drawings +=
        fmt::format("<g transform=\"translate(0 {})\">\n{}</g>\n", height, SvgChart(chart).text());
    height += heightOf(chart);
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
      "viewBox=\"0 0 {0} {1}\" font-family=\"Helvetica, Arial, sans-serif\" font-size=\"12\" "
      "stroke-linecap=\"round\" stroke-linejoin=\"round\">\n"
      "<title>{2}</title>\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
      "{3}</svg>\n",
      kWidth, height, escaped(titleOf(charts)), drawings);
}

}  // namespace steptape::tools
