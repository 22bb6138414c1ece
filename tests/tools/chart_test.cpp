// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/charts/chart.h"

#include <cmath>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "tools/steptape/charts/svg_chart.h"
#include "tools/steptape/charts/terminal_chart.h"
#include "tools/steptape/terminal/screen_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape::tools {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

Curve curve(std::string name, std::vector<double> y) {
  Curve result;
  result.name = std::move(name);
  result.summary = "sum";
  for (std::size_t i = 0; i < y.size(); ++i) {
    result.x.push_back(static_cast<double>(i));
  }
  result.y = std::move(y);
  return result;
}

Chart chartOf(std::vector<Curve> curves) {
  Chart chart;
  chart.title = "loss";
  chart.xName = "step";
  chart.curves = std::move(curves);
  return chart;
}

Terminal terminal(int columns, int rows, bool hasUtf8 = true, bool hasColor = false) {
  return {false, hasColor, hasUtf8, columns, rows};
}

std::vector<std::string> linesOf(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

std::vector<std::vector<double>> heights(const Chart& chart, int columns) {
  const Axes axes{Axis(AxisKind::kSteps, 0, 10, 5), Axis(chart.yKind, 1, 10, 5)};
  std::vector<std::vector<double>> result;
  for (const auto& line : steptape::tools::linesOf(chart, axes, chart.curves[0].x,
                                                   chart.curves[0].y, 100, 9, columns)) {
    result.emplace_back();
    for (const Place& place : line) {
      result.back().push_back(std::round((10 - place.y) * 1000) / 1000);
    }
  }
  return result;
}

TEST(Chart, BreaksALineWhereAPointCannotBeDrawn) {
  EXPECT_THAT(heights(chartOf({curve("a", {1, 10, NAN, 1, INFINITY, 10})}), 100),
              ElementsAre(ElementsAre(1, 10), ElementsAre(1), ElementsAre(10)));
}

TEST(Chart, BreaksALineAtZeroIfLogarithmic) {
  Chart chart = chartOf({curve("a", {1, 0, 10, -1, 1})});
  chart.yKind = AxisKind::kLogarithmic;
  EXPECT_THAT(heights(chart, 100), ElementsAre(ElementsAre(1), ElementsAre(10), ElementsAre(1)));
}

TEST(Chart, KeepsFirstLowestHighestAndLastOfAColumn) {
  // Ten steps share the one column.
  EXPECT_THAT(heights(chartOf({curve("a", {4, 5, 10, 5, 6, 1, 2, 3})}), 1),
              ElementsAre(ElementsAre(4, 10, 1, 3)));
  EXPECT_THAT(heights(chartOf({curve("a", {4, 1, 5, 10, 3})}), 1),
              ElementsAre(ElementsAre(4, 1, 10, 3)));
}

TEST(Chart, CoversAllDrawablePoints) {
  const Extent extent = extentOf(chartOf({curve("a", {NAN, 3, 5}), curve("b", {-2, INFINITY})}));
  EXPECT_EQ(extent.x.min, 0);
  EXPECT_EQ(extent.x.max, 2);
  EXPECT_EQ(extent.y.min, -2);
  EXPECT_EQ(extent.y.max, 5);
}

TEST(TerminalChart, DrawsARampInBraille) {
  const std::string drawn =
      drawChart(chartOf({curve("run", {0, 1, 2, 3, 4, 5, 6, 7, 8})}), terminal(30, 12));
  EXPECT_EQ(drawn,
            "             loss\n"
            "  │                       ⢀⡠⠔⠊\n"
            "  │                    ⢀⡠⠒⠁\n"
            "  │                 ⣀⠤⠒⠁\n"
            "5 ┤              ⣀⠔⠊\n"
            "  │          ⣀⠤⠒⠉\n"
            "  │      ⢀⠤⠒⠉\n"
            "  │   ⢀⠤⠊⠁\n"
            "0 ┤⡠⠔⠊⠁\n"
            "  └┬─────┬──────┬──────┬─────┬\n"
            "   0      2     4      6     8\n"
            "  ━━ run  sum\n");
}

TEST(TerminalChart, DrawsTheSameInAscii) {
  const std::string drawn =
      drawChart(chartOf({curve("run", {0, 1, 2, 3, 4, 5, 6, 7, 8})}), terminal(30, 8, false));
  for (const char c : drawn) {
    EXPECT_LT(static_cast<unsigned char>(c), 0x80);
  }
  EXPECT_THAT(drawn, HasSubstr("*"));
  EXPECT_THAT(drawn, HasSubstr("+-"));
}

TEST(TerminalChart, FillsTheTerminalExactly) {
  const Chart chart = chartOf({curve("a long name of a run", {1, 2}), curve("b", {2, 1}),
                               curve("c", {1, 1}), curve("d", {0, 3})});
  for (const auto& [columns, rows] :
       std::vector<std::pair<int, int>>{{30, 8}, {80, 23}, {200, 49}, {40, 60}}) {
    const std::vector<std::string> lines = linesOf(drawChart(chart, terminal(columns, rows)));
    EXPECT_EQ(static_cast<int>(lines.size()), rows);
    int widest = 0;
    for (const std::string& line : lines) {
      widest = std::max(widest, columnsOf(line));
    }
    EXPECT_EQ(widest, columns) << rows;
  }
}

TEST(TerminalChart, DistinguishesCurvesByColor) {
  const Chart chart = chartOf({curve("a", {0, 1}), curve("b", {1, 0})});
  const std::string drawn = drawChart(chart, terminal(40, 10, true, true));
  EXPECT_THAT(drawn, HasSubstr("\033[38;5;33m━━\033[0m a"));
  EXPECT_THAT(drawn, HasSubstr("\033[38;5;208m━━\033[0m b"));
  EXPECT_THAT(drawn, Not(HasSubstr("*")));
}

TEST(TerminalChart, DistinguishesCurvesByMarksWithoutColor) {
  const std::string drawn =
      drawChart(chartOf({curve("a", {0, 1}), curve("b", {1, 0})}), terminal(60, 10));
  EXPECT_THAT(drawn, Not(HasSubstr("\033")));
  EXPECT_THAT(drawn, HasSubstr("*  a"));
  EXPECT_THAT(drawn, HasSubstr("+  b"));
  const std::string plot = drawn.substr(0, drawn.find("*  a"));
  EXPECT_THAT(plot, HasSubstr("*"));
  EXPECT_THAT(plot, HasSubstr("+"));
}

TEST(TerminalChart, DrawsRawValuesFaintly) {
  Curve smooth = curve("a", {1, 1, 1});
  smooth.raw = {0, 2, 1};
  const Chart chart = chartOf({smooth});
  EXPECT_THAT(drawChart(chart, terminal(40, 10, true, true)), HasSubstr("\033[38;5;244m"));
  EXPECT_THAT(drawChart(chart, terminal(40, 10)), Not(HasSubstr("244")));
}

TEST(TerminalChart, DrawsTheSmoothedCurveOverRawValues) {
  Curve smooth = curve("a", {2, 2, 2});
  smooth.raw = {0, 4, 0};
  std::string level = "\033[38;5;33m";
  for (int column = 0; column < 36; ++column) {
    level += "⠉";
  }
  EXPECT_THAT(drawChart(chartOf({smooth}), terminal(39, 10, true, true)), HasSubstr(level));
}

TEST(TerminalChart, DrawsASinglePointAndAnEmptyChart) {
  EXPECT_THAT(drawChart(chartOf({curve("a", {5})}), terminal(40, 10)),
              HasSubstr("5.0 ┤                 ⠘⠃\n"));
  EXPECT_THAT(drawChart(chartOf({curve("a", {NAN})}), terminal(40, 10)), HasSubstr("a  sum"));
}

TEST(TerminalChart, EscapesControlCharactersInNames) {
  Chart chart = chartOf({curve("run\033[2J", {1, 2})});
  chart.title = "\033]0;title\a";
  const std::string drawn = drawChart(chart, terminal(40, 10));
  EXPECT_THAT(drawn, Not(HasSubstr("\033")));
  EXPECT_THAT(drawn, HasSubstr(R"(run\x1b[2J)"));
}

TEST(TerminalChart, CountsTheCurvesMissingFromTheLegend) {
  std::vector<Curve> curves;
  for (int i = 0; i < 100; ++i) {
    curves.push_back(curve("run " + std::to_string(i), {0, static_cast<double>(i)}));
  }
  EXPECT_THAT(drawChart(chartOf(curves), terminal(40, 24)), HasSubstr("  and 90 more\n"));
}

TEST(ScreenText, ShortensLongNamesInTheMiddle) {
  EXPECT_EQ(fitted("abcdefghij", 10, true), "abcdefghij");
  EXPECT_EQ(fitted("abcdefghij", 7, true), "abc…hij");
  EXPECT_EQ(fitted("abcdefghij", 6, false), "ab..ij");
  EXPECT_EQ(columnsOf(fitted("日本語日本語", 7, true)), 7);
}

TEST(ScreenText, EscapesControlCharacters) {
  EXPECT_EQ(printable("a\tb\n\r\033[31m\x7f\u0085\u009f", true),
            R"(a\tb\n\r\x1b[31m\x7f\u0085\u009f)");
  EXPECT_EQ(printable(std::string("\0", 1), true), R"(\x00)");
  EXPECT_EQ(printable("\u061c\u200e\u200f\u2028\u2029\u202a\u202e\u2066\u2069", true),
            R"(\u061c\u200e\u200f\u2028\u2029\u202a\u202e\u2066\u2069)");
  EXPECT_EQ(printable("\u200f", false), R"(\u200f)");
}

TEST(ScreenText, KeepsOtherCharacters) {
  EXPECT_EQ(printable("\u00a0\u200d\u2027\u202f\u2065\u206a", true),
            "\u00a0\u200d\u2027\u202f\u2065\u206a");
  EXPECT_EQ(printable(R"(C:\new)", true), R"(C:\new)");
  EXPECT_EQ(printable("für", true), "für");
  EXPECT_EQ(printable("für", false), "f?r");
  EXPECT_EQ(printable("\xff", true), "\uFFFD");
}

TEST(ScreenText, KnowsHowManyColumnsCharactersTake) {
  // As glibc's wcwidth() says in a UTF-8 locale.
  EXPECT_EQ(columnsOf("für"), 3);
  EXPECT_EQ(columnsOf("日本"), 4);
  EXPECT_EQ(columnsOf("한글"), 4);
  EXPECT_EQ(columnsOf("\u1112\u1161\u11ab"), 2);  // 한 in its three parts
  EXPECT_EQ(columnsOf("🚀⚡✅"), 6);
  EXPECT_EQ(columnsOf("☀✓"), 2);
  EXPECT_EQ(columnsOf("e\u0301"), 1);
  EXPECT_EQ(columnsOf("שָׁלוֹם"), 4);
  EXPECT_EQ(columnsOf("ภาษาไทยที่"), 8);
  EXPECT_EQ(columnsOf("a\u200bb"), 2);
}

TEST(SvgChart, IsAPictureWithATitle) {
  const std::string svg = svgOf({chartOf({curve("a", {0, 1, 2})})});
  EXPECT_THAT(svg, StartsWith("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg "));
  EXPECT_THAT(svg, HasSubstr("<title>loss</title>"));
  EXPECT_THAT(svg, HasSubstr("<polyline points=\"45.00,364.00 "));
  EXPECT_THAT(svg, HasSubstr("stroke=\"#1f77b4\""));
  EXPECT_THAT(svg, HasSubstr(">step</text>"));
}

TEST(SvgChart, EscapesText) {
  Chart chart = chartOf({curve("<b>&\"", {0, 1})});
  chart.title = "a<b\x01\uFFFF";
  const std::string svg = svgOf({chart});
  EXPECT_THAT(svg, HasSubstr("&lt;b&gt;&amp;&quot;"));
  EXPECT_THAT(svg, HasSubstr("<title>a&lt;b\\x01\uFFFD</title>"));
}

TEST(SvgChart, ShowsASinglePoint) {
  EXPECT_THAT(svgOf({chartOf({curve("a", {NAN, 5, NAN})})}), HasSubstr("stroke-width=\"5\""));
}

TEST(SvgChart, ShortensNamesThatDoNotFit) {
  Chart chart = chartOf({curve(std::string(200, 'r'), {0, 1})});
  chart.title = std::string(200, 't');
  chart.curves[0].summary = "1 at step 1";
  const std::string svg = svgOf({chart});
  EXPECT_THAT(svg, HasSubstr(">" + std::string(35, 't') + "…" + std::string(36, 't') + "</text>"));
  // At 7 pixels per character, with everything beside it, less than the image's 800 pixels.
  EXPECT_THAT(svg, HasSubstr(">" + std::string(44, 'r') + "…" + std::string(45, 'r') + "<tspan"));
}

TEST(SvgChart, KeepsLabelsApartAndInThePicture) {
  Chart chart = chartOf({curve("a", {0, 1})});
  chart.xKind = AxisKind::kSteps;
  chart.curves[0].x = {1e15, 1e15 + 2000};
  const std::string svg = svgOf({chart});
  const std::regex labels("x=\"([0-9.]+)\" y=\"382\" text-anchor=\"middle\">([^<]+)<");
  double end = 0;
  for (std::sregex_iterator it(svg.begin(), svg.end(), labels), none; it != none; ++it) {
    const double halfWidth = 7.0 * static_cast<double>((*it)[2].length()) / 2;
    // Positions are written in tenths of a pixel.
    EXPECT_GE(std::stod((*it)[1]) - halfWidth, end - 0.1) << (*it)[2];
    end = std::stod((*it)[1]) + halfWidth;
  }
  EXPECT_GT(end, 400);
  EXPECT_LE(end, 800.1);
}

TEST(SvgChart, StacksCharts) {
  const std::string svg = svgOf({chartOf({curve("a", {0, 1})}), chartOf({curve("a", {0, 1})})});
  EXPECT_THAT(svg, HasSubstr("<title>loss, loss</title>"));
  EXPECT_THAT(svg, HasSubstr("translate(0 464)"));
}

}  // namespace
}  // namespace steptape::tools
