// SPDX-License-Identifier: Apache-2.0
// The pixels of drawn figures.
#include <cmath>
#include <limits>
#include <vector>

#include "values/charts/picture.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

LineOptions redLine() {
  LineOptions options;
  options.color = "#ff0000";
  options.width = 3;
  return options;
}

BarOptions bars(const std::string& color) {
  BarOptions options;
  options.color = color;
  return options;
}

/// Returns left, top, right and bottom of the red pixels that `draw` adds to an empty figure.
template <typename Draw>
Box redBoxOf(Draw&& draw) {
  Figure figure;
  draw(&figure);
  return Picture(figure).boxOf(kRed);
}

TEST(Figure, HasTheSizeAskedFor) {
  CanvasOptions options;
  options.width = 321;
  options.height = 123;
  const Picture picture{Figure(options)};
  EXPECT_EQ(picture.width(), 321);
  EXPECT_EQ(picture.height(), 123);
}

TEST(Figure, WithoutDataShowsAxes) {
  const Picture picture{Figure()};
  EXPECT_EQ(picture.at(0, 0), kWhitePixel);
  EXPECT_LT(picture.count(kWhitePixel), picture.width() * picture.height());
}

TEST(Figure, GivesTheSameBytesEachTime) {
  Figure figure;
  figure.line(std::vector<double>{1, 3, 2}).setTitle("t");
  EXPECT_TRUE(figure.render().bytes == figure.render().bytes);
}

TEST(Figure, CopiesItsNumbers) {
  std::vector<double> y{1, 3, 2};
  Figure figure;
  figure.line(y);
  const std::string before = figure.render().bytes;
  y = {9, 9, 9};
  EXPECT_TRUE(figure.render().bytes == before);
}

TEST(Figure, CopiesAreIndependent) {
  Figure original;
  original.line(std::vector<double>{1, 3, 2});
  const std::string before = original.render().bytes;
  Figure copy = original;
  copy.line(std::vector<double>{5, 6}).setTitle("copy");
  EXPECT_TRUE(original.render().bytes == before);
  EXPECT_FALSE(copy.render().bytes == before);
  copy = original;
  EXPECT_TRUE(copy.render().bytes == before);
}

TEST(Figure, TakesNumbersOfAnyTypeAndStrides) {
  const std::vector<float> spread{1, -7, 3, -7, 2, -7};
  Figure strided;
  strided.line(TensorView(spread.data(), {3}, {2}));
  Figure plain;
  plain.line(std::vector<std::int8_t>{1, 3, 2});
  EXPECT_TRUE(strided.render().bytes == plain.render().bytes);
}

TEST(Line, RisesFromTheLowerLeftToTheUpperRight) {
  Figure figure;
  figure.line(std::vector<double>{0, 1}, std::vector<double>{0, 1}, redLine());
  const Picture picture(figure);
  const Box box = picture.boxOf(kRed);
  EXPECT_EQ(picture.at(box.centerX(), box.centerY()), kRed);
  EXPECT_EQ(picture.at(box.left + 1, box.bottom - 2), kRed);
  EXPECT_EQ(picture.at(box.right - 2, box.top + 1), kRed);
  EXPECT_NE(picture.at(box.left + 1, box.top + 1), kRed);
}

TEST(Line, LeavesAGapAtNaN) {
  Figure figure;
  figure.line(std::vector<double>{1, 1, kNaN, 1, 1}, redLine());
  const Picture picture(figure);
  const Box box = picture.boxOf(kRed);
  EXPECT_EQ(picture.at(box.left + box.width() / 8, box.centerY()), kRed);
  EXPECT_NE(picture.at(box.centerX(), box.centerY()), kRed);
  EXPECT_EQ(picture.at(box.right - box.width() / 8, box.centerY()), kRed);
}

TEST(Line, KeepsItsLimitsIfSomeNumbersAreNotFinite) {
  const auto draw = [](std::vector<double> y) {
    return redBoxOf([&](Figure* figure) {
      figure->line(std::vector<double>{0, 1, 2, 3, 4}, y, redLine());
    });
  };
  const Box whole = draw({0, 0, 0, 1, 1});
  const Box broken = draw({0, 0, kInfinity, 1, 1});
  EXPECT_EQ(broken.top, whole.top);
  EXPECT_EQ(broken.bottom, whole.bottom);
  EXPECT_EQ(broken.left, whole.left);
}

TEST(Line, SkipsNumbersThatAreNotPositiveOnALogarithmicAxis) {
  Figure figure;
  figure.line(std::vector<double>{10, 10, -5, 10, 10}, redLine()).setYScale(AxisScale::kLog);
  const Picture picture(figure);
  const Box box = picture.boxOf(kRed);
  EXPECT_NE(picture.at(box.centerX(), box.centerY()), kRed);
}

TEST(Line, IsStraightOnTwoLogarithmicAxesIfItIsAPower) {
  Figure figure;
  figure.line(std::vector<double>{1, 10, 10000}, std::vector<double>{1, 100, 1e8}, redLine());
  const auto isRedInTheMiddle = [&] {
    const Picture picture(figure);
    const Box box = picture.boxOf(kRed);
    return picture.at(box.centerX(), box.centerY()) == kRed;
  };
  figure.setXScale(AxisScale::kLog);
  EXPECT_FALSE(isRedInTheMiddle());
  figure.setYScale(AxisScale::kLog);
  EXPECT_TRUE(isRedInTheMiddle());
}

TEST(Line, LooksTheSameAfterDecimation) {
  // A dense line between -1 and 1 is a filled rectangle.
  std::vector<double> y;
  for (int i = 0; i < 200000; ++i) {
    y.push_back(i % 2 == 0 ? -1 : 1);
  }
  Figure figure;
  figure.line(y, redLine());
  const Picture picture(figure);
  const Box box = picture.boxOf(kRed);
  EXPECT_GE(picture.count(kRed), 0.99 * box.width() * box.height());
}

TEST(Scatter, DrawsAMarkerAtEachPoint) {
  ScatterOptions options;
  options.color = "#ff0000";
  options.size = 12;
  options.marker = "s";
  options.label = "";
  Figure figure;
  figure.scatter(std::vector<double>{0, 1, kNaN}, std::vector<double>{0, 1, 0.5}, options);
  const Picture picture(figure);
  const Box box = picture.boxOf(kRed);
  EXPECT_EQ(picture.at(box.left + 5, box.bottom - 5), kRed);
  EXPECT_EQ(picture.at(box.right - 5, box.top + 5), kRed);
  EXPECT_NE(picture.at(box.centerX(), box.centerY()), kRed);
}

TEST(Scatter, AddsUpTransparentMarkers) {
  ScatterOptions options;
  options.color = "#00000080";
  options.size = 20;
  const auto darkest = [&](const std::vector<double>& x) {
    Figure figure;
    figure.scatter(x, std::vector<double>(x.size(), 0.0), options);
    const Picture picture(figure.setGrid(false));
    int least = 255;
    for (int y = picture.height() / 3; y < picture.height() / 2; ++y) {
      for (int column = picture.width() / 3; column < picture.width() * 2 / 3; ++column) {
        least = std::min<int>(least, picture.at(column, y)[0]);
      }
    }
    return least;
  };
  EXPECT_NEAR(darkest({0}), 127, 2);
  EXPECT_NEAR(darkest({0, 0}), 63, 2);
}

TEST(Bar, IsAsHighAsItsNumberIsLarge) {
  Figure figure;
  figure.bar(std::vector<double>{1, 0, 0}, bars("#ff0000"));
  figure.bar(std::vector<double>{2, 0, 0}, bars("#00ff00"));
  const Picture picture(figure);
  const Box one = picture.boxOf(kRed);
  const Box two = picture.boxOf(kLime);
  EXPECT_EQ(one.bottom, two.bottom);
  EXPECT_NEAR(two.height(), 2 * one.height(), 1);
  EXPECT_EQ(two.left, one.right) << "plots stand side by side";
  EXPECT_EQ(picture.count(kRed), one.width() * one.height());
}

TEST(Bar, HangsBelowZeroIfItsNumberIsNegative) {
  Figure figure;
  figure.bar(std::vector<double>{1, 0}, bars("#ff0000"));
  figure.bar(std::vector<double>{0, -1}, bars("#00ff00"));
  const Picture picture(figure);
  EXPECT_EQ(picture.boxOf(kRed).bottom, picture.boxOf(kLime).top);
}

TEST(Bar, ReachesDownToTheAxisOnALogarithmicOne) {
  Figure figure;
  figure.bar(std::vector<double>{1, 100}, bars("#ff0000")).setYScale(AxisScale::kLog);
  const Picture picture(figure);
  const Box box = picture.boxOf(kRed);
  EXPECT_EQ(picture.at(box.left + 1, box.bottom - 1), kRed);
  EXPECT_EQ(picture.at(box.right - 2, box.bottom - 1), kRed);
}

TEST(Bar, StandsOnItsBottomAtThePlaceOfTheCallBefore) {
  BarOptions above = bars("#00ff00");
  above.bottom = {1, 2, 0};
  Figure figure;
  figure.bar(std::vector<double>{1, 0, 0}, bars("#ff0000"));
  figure.bar(std::vector<double>{3, 0, 0}, above);
  const Picture picture(figure);
  const Box below = picture.boxOf(kRed);
  const Box on = picture.boxOf(kLime);
  EXPECT_EQ(on.bottom, below.top);
  EXPECT_EQ(on.left, below.left);
  EXPECT_EQ(on.right, below.right);
  EXPECT_NEAR(on.height(), 3 * below.height(), 2);
}

TEST(Bar, WithABottomIsNextToTheBarsOfEarlierStacks) {
  BarOptions above = bars("#00ff00");
  above.bottom = {1, 0};
  Figure figure;
  figure.bar(std::vector<double>{1, 0}, bars("#0000ff"));
  figure.bar(std::vector<double>{1, 0}, bars("#ff0000"));
  figure.bar(std::vector<double>{1, 0}, above);
  const Picture picture(figure);
  EXPECT_EQ(picture.boxOf(kLime).left, picture.boxOf(kRed).left);
  EXPECT_EQ(picture.boxOf({0, 0, 255}).right, picture.boxOf(kRed).left);
}

TEST(Bar, IsOmittedIfItsBottomIsNotFinite) {
  BarOptions options = bars("#ff0000");
  options.bottom = {kNaN, 0, 0};
  const Box with = redBoxOf([&](Figure* figure) {
    figure->bar(std::vector<double>{1, 1, 1}, options);
  });
  options.bottom = {0, 0, 0};
  const Box all = redBoxOf([&](Figure* figure) {
    figure->bar(std::vector<double>{1, 1, 1}, options);
  });
  EXPECT_GT(with.left, all.left);
  EXPECT_EQ(with.right, all.right);
}

TEST(Bar, StandsOnItsBottomOnALogarithmicAxis) {
  BarOptions above = bars("#00ff00");
  above.bottom = {10};
  Figure figure;
  figure.bar(std::vector<double>{10}, bars("#ff0000")).bar(std::vector<double>{90}, above);
  const Picture picture(figure.setYScale(AxisScale::kLog));
  EXPECT_EQ(picture.boxOf(kLime).bottom, picture.boxOf(kRed).top);
}

/// Returns the heights of the red pixel columns within the bars, one per bar.
std::vector<int> barHeights(const Picture& picture, const Rgb& color, int barCount) {
  const Box box = picture.boxOf(color);
  std::vector<int> heights;
  for (int i = 0; i < barCount; ++i) {
    const int x = box.left + box.width() * (2 * i + 1) / (2 * barCount);
    int height = 0;
    for (int y = 0; y < picture.height(); ++y) {
      height += picture.at(x, y) == color ? 1 : 0;
    }
    heights.push_back(height);
  }
  return heights;
}

// "#ff0000" at the histogram's opacity of 0.7 on white.
constexpr Rgb kLightRed{255, 76, 76};

TEST(Histogram, CountsAsNumpyDoes) {
  // numpy.histogram([0, 1, 1, 2, 3, 4, nan], edges): the last edge belongs to the last bin.
  HistogramPlotOptions options;
  options.color = "#ff0000";
  options.edges = {0, 1, 2, 3, 4};
  Figure figure;
  figure.histogram(std::vector<double>{0, 1, 1, 2, 3, 4, kNaN, 5, -1, kInfinity}, options);
  const Picture picture(figure.setGrid(false));
  const std::vector<int> heights = barHeights(picture, kLightRed, 4);
  EXPECT_NEAR(heights[1], 2 * heights[0], 1);
  EXPECT_EQ(heights[2], heights[0]);
  EXPECT_EQ(heights[3], heights[1]);
}

TEST(Histogram, HasBinsOfEqualWidthBetweenTheExtremes) {
  HistogramPlotOptions options;
  options.color = "#ff0000";
  options.bins = 2;
  Figure figure;
  figure.histogram(std::vector<double>{0, 0.1, 0.2, 1}, options);
  const Picture picture(figure.setGrid(false));
  const std::vector<int> heights = barHeights(picture, kLightRed, 2);
  EXPECT_NEAR(heights[0], 3 * heights[1], 2);
}

TEST(Histogram, DensityComparesSamplesOfTwoSizes) {
  HistogramPlotOptions options;
  options.density = true;
  options.edges = {0, 1, 3};
  const std::vector<double> few{0.5, 2};
  std::vector<double> many;
  for (int i = 0; i < 100; ++i) {
    many.insert(many.end(), few.begin(), few.end());
  }
  EXPECT_TRUE(Figure().histogram(few, options).render().bytes ==
              Figure().histogram(many, options).render().bytes);
}

TEST(Histogram, HasEmptyAxesWithoutValues) {
  EXPECT_TRUE(Figure().histogram(std::vector<double>{kNaN}).render().bytes ==
              Figure().render().bytes);
}

TEST(FillBetween, FillsTheAreaWithTheLinesColor) {
  LineOptions line = redLine();
  line.width = 3;
  BandOptions band;
  band.opacity = 0.4;
  Figure figure;
  const std::vector<double> x{0, 1};
  figure.line(x, std::vector<double>{0, 0}, line)
      .fillBetween(x, std::vector<double>{1, 1}, std::vector<double>{2, 2}, band);
  const Picture picture(figure.setGrid(false));
  const Box box = picture.boxOf({255, 153, 153});
  EXPECT_LT(box.bottom, picture.boxOf(kRed).top);
  EXPECT_GT(box.height(), picture.height() / 4);
}

TEST(FillBetween, LeavesAGapAtNaN) {
  BandOptions band;
  band.color = "#ff0000";
  band.opacity = 1;
  Figure figure;
  figure.fillBetween(std::vector<double>{0, 1, 2, 3, 4}, std::vector<double>(5, 0.0),
                     std::vector<double>{1, 1, kNaN, 1, 1}, band);
  const Picture picture(figure.setGrid(false));
  const Box box = picture.boxOf(kRed);
  EXPECT_EQ(picture.at(box.left + 5, box.centerY()), kRed);
  EXPECT_EQ(picture.at(box.centerX(), box.centerY()), kWhitePixel);
  EXPECT_EQ(picture.at(box.right - 5, box.centerY()), kRed);
}

TEST(Rules, CrossTheAxes) {
  RuleOptions options;
  options.color = "#ff0000";
  options.style = "-";
  const Box across =
      redBoxOf([&](Figure* figure) { figure->horizontalLine(3, options).setGrid(false); });
  EXPECT_GT(across.width(), 500);
  EXPECT_LE(across.height(), 2);
  const Box upright =
      redBoxOf([&](Figure* figure) { figure->verticalLine(3, options).setGrid(false); });
  EXPECT_GT(upright.height(), 350);
  EXPECT_LE(upright.width(), 2);
}

TEST(Text, IsWrittenAtItsPoint) {
  AnnotationOptions options;
  options.color = "#ff0000";
  options.size = 20;
  options.anchor = TextAnchor::kCenter;
  const std::vector<double> corners{0, 1};
  const auto box = [&](double x, double y) {
    return redBoxOf(
        [&](Figure* figure) { figure->line(corners, corners).text(x, y, "HH", options); });
  };
  const Box low = box(0.25, 0.25);
  const Box high = box(0.75, 0.75);
  EXPECT_GT(high.centerX(), low.centerX() + 200);
  EXPECT_LT(high.centerY(), low.centerY() - 150);
}

TEST(Text, StaysWithinTheAxesWithAllOfIt) {
  AnnotationOptions options;
  options.color = "#ff0000";
  options.size = 20;  // The stems of smaller letters may lie between pixels, none of which is red.
  const std::vector<double> corners{0, 1};
  const auto box = [&](double x) {
    return redBoxOf([&](Figure* figure) {
      figure->line(corners, corners).text(x, 0.9, "HHHHHHHHHHHH", options);
    });
  };
  EXPECT_NEAR(box(0.2).width(), box(1).width(), 2);
}

TEST(Text, WithIllFormedUtf8IsDrawnAllTheSame) {
  Figure figure;
  figure.line(std::vector<double>{0, 1}, redLine()).setTitle("a\xFF\xC0z");
  EXPECT_GT(Picture(figure).count(kRed), 100);
}

TEST(Limits, ZoomIn) {
  const std::vector<double> corners{0, 1};
  Figure figure;
  figure.line(corners, corners, redLine());
  const Box whole = Picture(figure).boxOf(kRed);
  figure.setXLimits(0, 2);
  const Box half = Picture(figure).boxOf(kRed);
  EXPECT_NEAR(half.width(), whole.width() * 0.55, 5);
}

TEST(Limits, ClipPointsOutside) {
  Figure figure;
  figure.line(std::vector<double>{-1e300, 1e300}, std::vector<double>{0.5, 0.5}, redLine());
  figure.setXLimits(0, 1).setYLimits(0, 1);
  const Box box = Picture(figure).boxOf(kRed);
  EXPECT_GT(box.left, 20);
  EXPECT_LT(box.right, 640);
  EXPECT_GT(box.width(), 500);
}

TEST(Grid, CanBeSwitchedOff) {
  const Rgb grid{232, 232, 232};
  EXPECT_GT(Picture(Figure()).countOfLines(grid), 1000);
  EXPECT_EQ(Picture(Figure().setGrid(false)).countOfLines(grid), 0);
}

TEST(Labels, AreWritten) {
  const Picture without{Figure()};
  EXPECT_GT(without.differences(Picture(Figure().setTitle("Title"))), 100);
  EXPECT_GT(without.differences(Picture(Figure().setXLabel("x label"))), 100);
  EXPECT_GT(without.differences(Picture(Figure().setYLabel("y label"))), 100);
}

TEST(Dpi, MakesTextAndLinesLarger) {
  CanvasOptions fine;
  fine.dpi = 200;
  Figure large(fine);
  Figure usual;
  const std::vector<double> flat{1, 1};
  EXPECT_NEAR(Picture(large.line(flat, redLine())).boxOf(kRed).height(),
              2 * Picture(usual.line(flat, redLine())).boxOf(kRed).height(), 2);
}

Figure labeled(std::vector<double> y) {
  LineOptions options;
  options.label = "HHHHHHHH";
  options.color = "#ff0000";
  options.width = 8;
  options.style = "";
  options.marker = "s";
  options.markerSize = 12;
  Figure figure;
  figure.line(std::vector<double>{0, 1, 2, 3, 4}, y, options).setGrid(false);
  return figure;
}

/// The gray of the legend's border.
constexpr Rgb kBorder{204, 204, 204};

TEST(Legend, AppearsOnceSomethingHasALabel) {
  EXPECT_EQ(Picture(Figure().setGrid(false)).countOfLines(kBorder), 0);
  EXPECT_GT(Picture(labeled({0, 1, 2, 3, 4})).countOfLines(kBorder), 200);
}

TEST(Legend, CanBeHidden) {
  EXPECT_EQ(Picture(labeled({0, 1, 2, 3, 4}).setLegend(LegendPlace::kNone)).countOfLines(kBorder),
            0);
}

TEST(Legend, AvoidsThePlots) {
  const Picture rising(labeled({0, 1, 2, 3, 4}));
  EXPECT_LT(rising.boxOfLines(kBorder).right, rising.width() / 2);
  const Picture falling(labeled({4, 3, 2, 1, 0}));
  EXPECT_GT(falling.boxOfLines(kBorder).left, falling.width() / 2);
}

TEST(Legend, IsInTheRequestedCorner) {
  const auto box = [](LegendPlace place) {
    return Picture(labeled({0, 1, 2, 3, 4}).setLegend(place)).boxOfLines(kBorder);
  };
  EXPECT_GT(box(LegendPlace::kUpperRight).left, 320);
  EXPECT_LT(box(LegendPlace::kUpperRight).bottom, 240);
  EXPECT_LT(box(LegendPlace::kUpperLeft).right, 320);
  EXPECT_LT(box(LegendPlace::kUpperLeft).bottom, 240);
  EXPECT_LT(box(LegendPlace::kLowerLeft).right, 320);
  EXPECT_GT(box(LegendPlace::kLowerLeft).top, 240);
  EXPECT_GT(box(LegendPlace::kLowerRight).left, 320);
  EXPECT_GT(box(LegendPlace::kLowerRight).top, 240);
}

TEST(Legend, IsNextToTheAxesOnRequest) {
  const Picture beside(labeled({0, 1, 2, 3, 4}).setLegend(LegendPlace::kBeside));
  const Box legend = beside.boxOfLines(kBorder);
  EXPECT_LT(legend.right, beside.width());
  for (int x = legend.left - 8; x < legend.left; ++x) {
    for (int y = 0; y < beside.height(); ++y) {
      ASSERT_EQ(beside.at(x, y), kWhitePixel) << "something reaches to the legend";
    }
  }
}

TEST(Legend, GetsRoomAboveBarsThatFillTheAxes) {
  BarOptions options = bars("#ff0000");
  options.width = 1;
  const std::vector<double> full(8, 1.0);
  Figure figure;
  figure.bar(full, options);
  const Box without = Picture(figure).boxOf(kRed);
  options.label = "name";
  options.color = "#00ff00";
  Figure named;
  named.bar(full, options);
  const Picture picture(named);
  // The largest run of green is the bars, not the key in the legend.
  EXPECT_GT(picture.boxOfLines(kBorder).top, 0);
  int top = picture.height();
  while (top > 0 && picture.at(without.left + 5, top - 1) != kLime) {
    --top;
  }
  while (top > 0 && picture.at(without.left + 5, top - 1) == kLime) {
    --top;
  }
  EXPECT_GT(top, picture.boxOfLines(kBorder).bottom);
  EXPECT_GT(top, without.top + 10);
}

}  // namespace
}  // namespace steptape
