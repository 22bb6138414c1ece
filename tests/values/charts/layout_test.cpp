// SPDX-License-Identifier: Apache-2.0
#include "values/charts/layout.h"

#include <cmath>
#include <tuple>

#include "values/charts/render.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape::figure {
namespace {

/// The size of a figure, and the kind of its axes.
using Parameters = std::tuple<std::pair<int, int>, double, AxisScale>;

class LayoutOfAnySize : public ::testing::TestWithParam<Parameters> {
 protected:
  LayoutOfAnySize()
      : width_(std::get<0>(GetParam()).first),
        height_(std::get<0>(GetParam()).second),
        canvas_(width_, height_, 100) {
    const double largest = std::get<1>(GetParam());
    contents_.x.include(largest / 1e7);
    contents_.x.include(largest);
    contents_.y.include(largest / 3);
    contents_.y.include(largest);
    model_.xScale = std::get<2>(GetParam());
    model_.yScale = std::get<2>(GetParam());
    model_.canvas.title = "A title";
    model_.xLabel = "x";
    model_.yLabel = "y";
  }

  Layout layout() {
    return layOut(model_, contents_,
                  {0, 0, static_cast<double>(width_), static_cast<double>(height_)}, &canvas_);
  }

  double textWidth(const Tick& tick) {
    TextStyle style;
    style.size = kTickSize;
    return canvas_.textWidth(tick.label, style);
  }

  int width_;
  int height_;
  Canvas canvas_;
  FigureModel model_;
  Contents contents_;
};

TEST_P(LayoutOfAnySize, KeepsTheAxesInThePicture) {
  const Rect area = layout().frame.area;
  EXPECT_GT(area.left, 0);
  EXPECT_GT(area.top, 0);
  EXPECT_LT(area.right(), width_);
  EXPECT_LT(area.bottom(), height_);
}

TEST_P(LayoutOfAnySize, AlignsTheAxesToPixels) {
  const Rect area = layout().frame.area;
  for (const double length : {area.left, area.top, area.width, area.height}) {
    EXPECT_EQ(length, std::round(length));
  }
}

TEST_P(LayoutOfAnySize, LeavesRoomBetweenTheNumbersBelow) {
  const Layout result = layout();
  const std::vector<Tick>& ticks = result.x.ticks.major;
  ASSERT_GE(ticks.size(), 1U);
  for (std::size_t i = 1; i < ticks.size(); ++i) {
    const double distance =
        result.frame.pixelX(ticks[i].value) - result.frame.pixelX(ticks[i - 1].value);
    EXPECT_GT(distance, (textWidth(ticks[i]) + textWidth(ticks[i - 1])) / 2);
  }
}

TEST_P(LayoutOfAnySize, LeavesSpaceBetweenTheNumbersOfTheYAxis) {
  const Layout result = layout();
  const std::vector<Tick>& ticks = result.y.ticks.major;
  ASSERT_GE(ticks.size(), 1U);
  for (std::size_t i = 1; i < ticks.size(); ++i) {
    EXPECT_GT(result.frame.pixelY(ticks[i - 1].value) - result.frame.pixelY(ticks[i].value),
              canvas_.lineHeight(kTickSize));
  }
}

TEST_P(LayoutOfAnySize, PutsTheNumbersOfTheYAxisBetweenItsLabelAndTheAxis) {
  const Layout result = layout();
  for (const Tick& tick : result.y.ticks.major) {
    EXPECT_LT(result.yLabel.x, result.frame.area.left - textWidth(tick));
  }
  EXPECT_GT(result.yLabel.x, 0);
}

INSTANTIATE_TEST_SUITE_P(
    SizesAndNumbers, LayoutOfAnySize,
    ::testing::Combine(::testing::Values(std::pair(240, 180), std::pair(320, 240),
                                         std::pair(640, 480), std::pair(300, 800),
                                         std::pair(1500, 220)),
                       ::testing::Values(1e-30, 3e-4, 1.0, 7777.0, 4e6, 2e40),
                       ::testing::Values(AxisScale::kLinear, AxisScale::kLog)));

class LayoutOfNames : public ::testing::Test {
 protected:
  Layout layout(const std::vector<std::string>& names, int width) {
    contents_ = Contents();
    contents_.x.includeEdge(-0.5);
    contents_.x.includeEdge(static_cast<double>(names.size()) - 0.5);
    contents_.x.setCategories(names);
    return layOut(FigureModel(), contents_, {0, 0, static_cast<double>(width), 300}, &canvas_);
  }

  Canvas canvas_{640, 480, 100};
  Contents contents_;
};

TEST_F(LayoutOfNames, SetsShortNamesUpright) {
  const Layout result = layout({"a", "b", "c"}, 300);
  EXPECT_FALSE(result.x.areTilted);
  EXPECT_THAT(result.x.ticks.major, ::testing::SizeIs(3));
}

TEST_F(LayoutOfNames, TiltsLongNamesAndMakesRoomForThem) {
  const Layout result = layout({"a long name", "another name", "one more name"}, 150);
  EXPECT_TRUE(result.x.areTilted);
  EXPECT_LT(result.frame.area.height, layout({"a", "b", "c"}, 300).frame.area.height);
}

TEST_F(LayoutOfNames, OmitsNamesIfThereAreTooMany) {
  const Layout result = layout(std::vector<std::string>(200, "a name"), 300);
  EXPECT_LT(result.x.ticks.major.size(), 40U);
  EXPECT_GT(result.x.ticks.major.size(), 5U);
}

TEST_F(LayoutOfNames, ShortensNamesThatWouldFillThePicture) {
  const Layout result = layout({std::string(500, 'x'), "b"}, 300);
  EXPECT_GT(result.frame.area.height, 100);
  EXPECT_THAT(result.x.ticks.major[0].label.text, ::testing::EndsWith("x…"));
}

}  // namespace
}  // namespace steptape::figure
