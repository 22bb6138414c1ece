// SPDX-License-Identifier: Apache-2.0
// Errors of a figure's calls, which throw on the caller's thread and leave the figure unchanged.
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
                        "Figure::line: got 3 elements in x and 4 in y; expected equally many");
  expectInvalidArgument([&] { figure.scatter(kFour, kThree); },
                        "Figure::scatter: got 4 elements in x and 3 in y; expected equally many");
  expectInvalidArgument(
      [&] { figure.fillBetween(kThree, kThree, kFour); },
      "Figure::fillBetween: got 3 elements in x and 4 in upper; expected equally many");
}

TEST(FigureErrors, LinesHaveOneDimension) {
  const TensorView matrix(kFour.data(), {2, 2});
  Figure figure;
  expectInvalidArgument([&] { figure.line(matrix); },
                        "Figure::line: got y of shape (2, 2); expected one dimension");
  expectInvalidArgument([&] { figure.bar(matrix); },
                        "Figure::bar: got heights of shape (2, 2); expected one dimension");
}

TEST(FigureErrors, EachBarHasALabel) {
  BarOptions options;
  options.labels = {"a", "b"};
  expectInvalidArgument([&] { Figure().bar(kThree, options); },
                        "Figure::bar: got 2 labels; expected 3, one for each bar");
}

TEST(FigureErrors, EachBarHasABottom) {
  BarOptions options;
  options.bottom = {1, 2};
  expectInvalidArgument([&] { Figure().bar(kThree, options); },
                        "Figure::bar: got 2 bottom; expected 3, one for each bar");
}

TEST(FigureErrors, BlocksAreNotNegative) {
  FlameBlock block;
  block.name = "mm";
  block.self = -1;
  FlameBlock parent;
  parent.name = "step";
  parent.children = {block};
  expectInvalidArgument([&] { Figure().flameGraph({parent}); },
                        "Figure::flameGraph: got self of block \"mm\" = -1.000000; expected a "
                        "finite number, 0 or more");
  block.self = 1;
  block.color = "blurple";
  expectInvalidArgument([&] { Figure().flameGraph({block}); },
                        "Figure::flameGraph: got color = \"blurple\"; expected a color such as "
                        "\"#1f77b4\", \"C0\" to \"C7\" or \"red\"");
}

TEST(FigureErrors, MatricesHaveTwoDimensions) {
  Figure figure;
  expectInvalidArgument(
      [&] { figure.heatMap(kFour); },
      "Figure::heatMap: got a matrix of shape (4); expected (rows, columns), neither of them 0");
  expectInvalidArgument(
      [&] {
        figure.confusionMatrix(TensorView(kFour.data(), {1, 4}));
      },
      "Figure::confusionMatrix: got counts of shape (1, 4); expected as many rows as columns, at "
      "least one");
  expectInvalidArgument(
      [&] {
        figure.confusionMatrix(TensorView(kFour.data(), {2, 2}), {"a"});
      },
      "Figure::confusionMatrix: got 1 classNames; expected 2, one for each class");
}

TEST(FigureErrors, LimitsAscend) {
  HeatMapOptions options;
  options.min = 2;
  options.max = 1;
  expectInvalidArgument(
      [&] {
        Figure().heatMap(TensorView(kFour.data(), {2, 2}), options);
      },
      "Figure::heatMap: got min = 2.000000 and max = 1.000000; expected min less than max");
  expectInvalidArgument([] { Figure().setXLimits(1, 1); },
                        "Figure::setXLimits: got the limits 1.000000 and 1.000000; expected finite "
                        "numbers, the first less than the second");
  expectInvalidArgument([] { Figure().setYLimits(0, std::numeric_limits<double>::infinity()); },
                        "Figure::setYLimits: got the limits 0.000000 and inf; expected finite "
                        "numbers, the first less than the second");
}

TEST(FigureErrors, RejectNonPositiveLimitsOfLogarithmicAxesInAnyOrder) {
  expectInvalidArgument([] { Figure().setXLimits(0, 1).setXScale(AxisScale::kLog); },
                        "Figure::setXScale: got the lower limit 0.000000; expected a positive one "
                        "on a logarithmic axis");
  expectInvalidArgument([] { Figure().setYScale(AxisScale::kLog).setYLimits(-1, 1); },
                        "Figure::setYLimits: got the lower limit -1.000000; expected a positive "
                        "one on a logarithmic axis");
}

TEST(FigureErrors, HistogramsHaveBins) {
  HistogramPlotOptions options;
  options.bins = 0;
  expectInvalidArgument([&] { Figure().histogram(kThree, options); },
                        "Figure::histogram: got bins = 0; expected 1 to 10000");
  options.bins = 10;
  options.edges = {0, 1, 1};
  expectInvalidArgument(
      [&] { Figure().histogram(kThree, options); },
      "Figure::histogram: got edges[2] = 1.000000; expected finite, increasing edges");
  options.edges = {0};
  expectInvalidArgument([&] { Figure().histogram(kThree, options); },
                        "Figure::histogram: got 1 edge; expected at least 2");
}

TEST(FigureErrors, StylesAreKnown) {
  LineOptions line;
  line.style = "~";
  expectInvalidArgument([&] { Figure().line(kThree, line); },
                        "Figure::line: got style = \"~\"; expected \"-\", \"--\", \":\" or \"-.\"");
  line = {};
  line.width = -1;
  expectInvalidArgument([&] { Figure().line(kThree, line); },
                        "Figure::line: got width = -1.000000; expected more than 0, at most 1000");
  ScatterOptions scatter;
  scatter.marker = "*";
  expectInvalidArgument(
      [&] { Figure().scatter(kThree, kThree, scatter); },
      "Figure::scatter: got marker = \"*\"; expected \"o\", \"s\", \"^\", \"D\", \"+\" or \"x\"");
  BandOptions band;
  band.opacity = 2;
  expectInvalidArgument([&] { Figure().fillBetween(kThree, kThree, kThree, band); },
                        "Figure::fillBetween: got opacity = 2.000000; expected 0 to 1");
  BarOptions bar;
  bar.width = 0;
  expectInvalidArgument([&] { Figure().bar(kThree, bar); },
                        "Figure::bar: got width = 0.000000; expected more than 0, at most 1");
  AnnotationOptions text;
  text.size = 0;
  expectInvalidArgument([&] { Figure().text(0, 0, "x", text); },
                        "Figure::text: got size = 0.000000; expected more than 0, at most 200");
}

TEST(FigureErrors, PicturesHaveAUsefulSize) {
  CanvasOptions options;
  options.width = 63;
  expectInvalidArgument(
      [&] { Figure{options}; },
      "Figure: got a size of 63 x 480 pixels; expected 64 to 8192 pixels to a side");
  options.width = 640;
  options.dpi = 0;
  expectInvalidArgument([&] { Figure{options}; },
                        "Figure: got dpi = 0.000000; expected 20 to 1200");
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
