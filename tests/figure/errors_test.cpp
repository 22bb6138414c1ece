// SPDX-License-Identifier: Apache-2.0
// What a figure refuses, on the caller, and that it is unchanged then.
#include <limits>
#include <vector>

#include "steptape/figure.h"

#include "support/expect_error.h"

namespace steptape {
namespace {

using test::expectInvalidArgument;

const std::vector<double> kThree{1, 2, 3};
const std::vector<double> kFour{1, 2, 3, 4};

TEST(FigureErrors, LengthsMustBeEqual) {
  Figure figure;
  expectInvalidArgument([&] { figure.line(kThree, kFour); },
                        "figure: line: x has 3 elements and y has 4, wanted equally many");
  expectInvalidArgument([&] { figure.scatter(kFour, kThree); },
                        "figure: scatter: x has 4 elements and y has 3, wanted equally many");
  expectInvalidArgument(
      [&] { figure.fillBetween(kThree, kThree, kFour); },
      "figure: fillBetween: x has 3 elements and upper has 4, wanted equally many");
}

TEST(FigureErrors, LinesHaveOneDimension) {
  const TensorView matrix(kFour.data(), {2, 2});
  Figure figure;
  expectInvalidArgument([&] { figure.line(matrix); },
                        "figure: line: y has shape (2, 2), wanted one dimension");
  expectInvalidArgument([&] { figure.bar(matrix); },
                        "figure: bar: heights has shape (2, 2), wanted one dimension");
}

TEST(FigureErrors, EachBarHasALabel) {
  BarOptions options;
  options.labels = {"a", "b"};
  expectInvalidArgument([&] { Figure().bar(kThree, options); },
                        "figure: bar: labels has 2 entries, wanted 3, one for each bar");
}

TEST(FigureErrors, EachBarHasABottom) {
  BarOptions options;
  options.bottom = {1, 2};
  expectInvalidArgument([&] { Figure().bar(kThree, options); },
                        "figure: bar: bottom has 2 entries, wanted 3, one for each bar");
}

TEST(FigureErrors, BlocksAreNotNegative) {
  FlameBlock block;
  block.name = "mm";
  block.self = -1;
  FlameBlock parent;
  parent.name = "step";
  parent.children = {block};
  expectInvalidArgument([&] { Figure().flameGraph({parent}); },
                        "figure: flameGraph: self of block \"mm\" is -1.000000, wanted a finite "
                        "number that is not negative");
  block.self = 1;
  block.color = "blurple";
  expectInvalidArgument([&] { Figure().flameGraph({block}); },
                        "figure: flameGraph: color is \"blurple\", wanted such as \"#1f77b4\", "
                        "\"C0\" to \"C7\" or \"red\"");
}

TEST(FigureErrors, MatricesHaveTwoDimensions) {
  Figure figure;
  expectInvalidArgument([&] { figure.heatMap(kFour); },
                        "figure: heatMap: matrix has shape (4), wanted (rows, columns), neither of "
                        "them 0");
  expectInvalidArgument(
      [&] {
        figure.confusionMatrix(TensorView(kFour.data(), {1, 4}));
      },
      "figure: confusionMatrix: counts has shape (1, 4), wanted as many rows as "
      "columns, and at least one");
  expectInvalidArgument(
      [&] {
        figure.confusionMatrix(TensorView(kFour.data(), {2, 2}), {"a"});
      },
      "figure: confusionMatrix: classNames has 1 entries, wanted 2, one for each "
      "class");
}

TEST(FigureErrors, LimitsAscend) {
  HeatMapOptions options;
  options.min = 2;
  options.max = 1;
  expectInvalidArgument(
      [&] {
        Figure().heatMap(TensorView(kFour.data(), {2, 2}), options);
      },
      "figure: heatMap: min is 2.000000 and max is 1.000000, wanted min below max");
  expectInvalidArgument([] { Figure().setXLimits(1, 1); },
                        "figure: setXLimits: the limits are 1.000000 and 1.000000, wanted finite "
                        "numbers, the first below the second");
  expectInvalidArgument([] { Figure().setYLimits(0, std::numeric_limits<double>::infinity()); },
                        "figure: setYLimits: the limits are 0.000000 and inf, wanted finite "
                        "numbers, the first below the second");
}

TEST(FigureErrors, LogarithmicAxesHavePositiveLimitsWhateverComesFirst) {
  expectInvalidArgument(
      [] { Figure().setXLimits(0, 1).setXScale(AxisScale::kLog); },
      "figure: setXScale: the lower limit is 0.000000, wanted a positive one on a "
      "logarithmic axis");
  expectInvalidArgument(
      [] { Figure().setYScale(AxisScale::kLog).setYLimits(-1, 1); },
      "figure: setYLimits: the lower limit is -1.000000, wanted a positive one on "
      "a logarithmic axis");
}

TEST(FigureErrors, HistogramsHaveBins) {
  HistogramPlotOptions options;
  options.bins = 0;
  expectInvalidArgument([&] { Figure().histogram(kThree, options); },
                        "figure: histogram: bins is 0, wanted 1 to 10000");
  options.bins = 10;
  options.edges = {0, 1, 1};
  expectInvalidArgument([&] { Figure().histogram(kThree, options); },
                        "figure: histogram: edges[2] is 1.000000, wanted a finite number above the "
                        "one before it");
  options.edges = {0};
  expectInvalidArgument([&] { Figure().histogram(kThree, options); },
                        "figure: histogram: edges has 1 entry, wanted at least 2");
}

TEST(FigureErrors, StylesAreKnown) {
  LineOptions line;
  line.style = "~";
  expectInvalidArgument([&] { Figure().line(kThree, line); },
                        R"(figure: line: style is "~", wanted "-", "--", ":" or "-.")");
  line = {};
  line.width = -1;
  expectInvalidArgument([&] { Figure().line(kThree, line); },
                        "figure: line: width is -1.000000, wanted more than 0, at most 1000");
  ScatterOptions scatter;
  scatter.marker = "*";
  expectInvalidArgument([&] { Figure().scatter(kThree, kThree, scatter); },
                        R"(figure: scatter: marker is "*", wanted "o", "s", "^", "D", "+" or "x")");
  BandOptions band;
  band.opacity = 2;
  expectInvalidArgument([&] { Figure().fillBetween(kThree, kThree, kThree, band); },
                        "figure: fillBetween: opacity is 2.000000, wanted 0 to 1");
  BarOptions bar;
  bar.width = 0;
  expectInvalidArgument([&] { Figure().bar(kThree, bar); },
                        "figure: bar: width is 0.000000, wanted more than 0, at most 1");
  AnnotationOptions text;
  text.size = 0;
  expectInvalidArgument([&] { Figure().text(0, 0, "x", text); },
                        "figure: text: size is 0.000000, wanted more than 0, at most 200");
}

TEST(FigureErrors, PicturesHaveAUsefulSize) {
  CanvasOptions options;
  options.width = 63;
  expectInvalidArgument([&] { Figure{options}; },
                        "figure: the size is 63 x 480 pixels, wanted 64 to 8192 on either side");
  options.width = 640;
  options.dpi = 0;
  expectInvalidArgument([&] { Figure{options}; }, "figure: dpi is 0.000000, wanted 20 to 1200");
}

TEST(FigureErrors, ACallThatThrowsChangesNothing) {
  Figure figure;
  figure.line(kThree);
  const std::string before = figure.render().bytes;
  EXPECT_THROW(figure.line(kThree, kFour), Error);
  EXPECT_THROW(figure.bar(TensorView(kFour.data(), {2, 2})), Error);
  EXPECT_TRUE(figure.render().bytes == before);
}

}  // namespace
}  // namespace steptape
