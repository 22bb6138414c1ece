// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <vector>

#include "values/charts/picture.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

HeatMapOptions gray() {
  HeatMapOptions options;
  options.colormap = "gray";
  options.colorbar = false;
  return options;
}

Rgb level(int value) {
  const auto byte = static_cast<std::uint8_t>(value);
  return {byte, byte, byte};
}

TEST(HeatMap, HasItsFirstRowAtTheTop) {
  // Every second of viridis' eleven published colors, which texts do not have.
  const std::vector<int> numbers{0, 1, 2, 3, 4, 5};
  HeatMapOptions options;
  options.colorbar = false;
  Figure figure;
  figure.heatMap(TensorView(numbers.data(), {2, 3}), options);
  const Picture picture(figure);
  const Box first = picture.boxOf({0x44, 0x01, 0x54});
  const Rgb second{0x41, 0x44, 0x87};
  const Box right = picture.boxOf(second);
  const Box below = picture.boxOf({0x22, 0xA8, 0x84});
  EXPECT_EQ(right.left, first.right);
  EXPECT_EQ(right.top, first.top);
  EXPECT_EQ(below.top, first.bottom);
  EXPECT_EQ(below.left, first.left);
  EXPECT_EQ(picture.count(second), right.width() * right.height()) << "cells have no seams";
}

TEST(HeatMap, TakesColumnMajorMatrices) {
  const std::vector<int> rowMajor{0, 50, 100, 150, 200, 255};
  const std::vector<int> columnMajor{0, 150, 50, 200, 100, 255};
  EXPECT_TRUE(Figure().heatMap(TensorView(rowMajor.data(), {2, 3})).render().bytes ==
              Figure().heatMap(TensorView(columnMajor.data(), {2, 3}, {1, 2})).render().bytes);
}

TEST(HeatMap, LeavesNaNEmptyAndOutOfTheLimits) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> numbers{0, nan, 0.2, 1};
  Figure figure;
  figure.heatMap(TensorView(numbers.data(), {2, 2}), gray());
  const Picture picture(figure);
  const Box dark = picture.boxOfLines(level(0));
  EXPECT_EQ(picture.at(dark.right + dark.width() / 2, dark.centerY()), kWhitePixel);
  EXPECT_GT(picture.count(level(51)), 1000);
}

TEST(HeatMap, ClampsToTheLimitsGiven) {
  const std::vector<double> numbers{-100, 5, 10, 100};
  HeatMapOptions options = gray();
  options.min = 0;
  options.max = 10;
  Figure figure;
  figure.heatMap(TensorView(numbers.data(), {1, 4}), options);
  const Picture picture(figure);
  const Box dark = picture.boxOfLines(level(0));
  const Box middle = picture.boxOfLines(level(128));
  EXPECT_NEAR(dark.width(), middle.width(), 1);
  EXPECT_EQ(picture.at(middle.right + middle.width() * 3 / 2, middle.centerY()), kWhitePixel);
}

TEST(HeatMap, OfEqualNumbersHasOneColor) {
  const std::vector<double> numbers(6, 7.0);
  Figure figure;
  figure.heatMap(TensorView(numbers.data(), {2, 3}), gray());
  const Picture picture(figure);
  EXPECT_GT(picture.count(level(0)), picture.width() * picture.height() / 2);
}

TEST(HeatMap, ShowsTheMeanIfCellsAreSmallerThanPixels) {
  // A checkerboard of 0 and 1 looks gray from afar.
  constexpr std::int64_t kSide = 4000;
  std::vector<std::uint8_t> numbers(kSide * kSide);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = static_cast<std::uint8_t>((i / kSide + i) % 2);
  }
  Figure figure;
  figure.heatMap(TensorView(numbers.data(), {kSide, kSide}), gray());
  const Picture picture(figure);
  EXPECT_NEAR(picture.at(picture.width() / 2, picture.height() / 2)[0], 128, 16);
}

TEST(HeatMap, CanHaveSquareCells) {
  const std::vector<int> numbers{0, 1, 2, 3, 4, 5};
  HeatMapOptions options;
  options.colorbar = false;
  options.squareCells = true;
  Figure figure;
  figure.heatMap(TensorView(numbers.data(), {1, 6}), options);
  const Box box = Picture(figure).boxOf({0x41, 0x44, 0x87});
  EXPECT_NEAR(box.width(), box.height(), 1);
}

TEST(HeatMap, HasAColorbarFromTheLeastToTheLargestColor) {
  // There is only one number: all other colors belong to the colorbar.
  const std::vector<double> numbers{0.5};
  HeatMapOptions options = gray();
  options.colorbar = true;
  options.min = 0;
  options.max = 1;
  Figure figure;
  figure.heatMap(TensorView(numbers.data(), {1, 1}), options);
  const Picture picture(figure);
  const Box map = picture.boxOfLines(level(128));
  const int x = picture.boxOfLines(level(20)).centerX();
  EXPECT_GT(x, picture.width() / 2);
  EXPECT_LT(picture.at(x, map.bottom - 4)[0], 10);
  EXPECT_GT(picture.at(x, map.top + 4)[0], 245);
}

class ConfusionMatrix : public ::testing::Test {
 protected:
  /// Returns a figure of two classes whose cells are white and black.
  static Figure figure(std::vector<std::int64_t> counts, bool normalize = false) {
    ConfusionMatrixOptions options;
    options.colormap = "gray_r";
    options.colorbar = false;
    options.normalize = normalize;
    Figure figure;
    figure.confusionMatrix(TensorView(counts.data(), {2, 2}), {"a", "b"}, options);
    return figure;
  }
};

TEST_F(ConfusionMatrix, HasTrueClassesAsRowsAndPredictedOnesAsColumns) {
  const Picture picture(figure({0, 100, 0, 0}));
  const Box dark = picture.boxOfLines(level(0));
  EXPECT_GT(dark.centerX(), picture.width() / 2);
  EXPECT_LT(dark.centerY(), picture.height() / 2);
}

TEST_F(ConfusionMatrix, WritesItsCountsDarkOnLightAndLightOnDark) {
  const Picture picture(figure({0, 100, 0, 0}));
  const Box dark = picture.boxOfLines(level(0));
  int lightest = 0;
  for (int y = dark.top + 5; y < dark.bottom - 5; ++y) {
    for (int x = dark.left + 5; x < dark.right - 5; ++x) {
      lightest = std::max<int>(lightest, picture.at(x, y)[0]);
    }
  }
  EXPECT_GT(lightest, 200);
  int darkest = 255;
  for (int y = dark.top + 5; y < dark.bottom - 5; ++y) {
    for (int x = dark.left - dark.width() + 5; x < dark.left - 5; ++x) {
      darkest = std::min<int>(darkest, picture.at(x, y)[0]);
    }
  }
  EXPECT_LT(darkest, 100);
}

TEST_F(ConfusionMatrix, WritesAnotherTextForAnotherCount) {
  // Both are the largest count, so that only the text differs.
  const Picture seven(figure({7, 0, 0, 7}));
  const Picture eight(figure({8, 0, 0, 8}));
  const int differences = seven.differences(eight);
  EXPECT_GT(differences, 20);
  EXPECT_LT(differences, 1000);
}

TEST_F(ConfusionMatrix, NormalizesByTheTrueClass) {
  EXPECT_TRUE(figure({1, 3, 2, 2}, true).render().bytes ==
              figure({10, 30, 500, 500}, true).render().bytes);
  EXPECT_FALSE(figure({1, 3, 2, 2}, true).render().bytes == figure({1, 3, 2, 2}).render().bytes);
}

TEST_F(ConfusionMatrix, ShowsAClassThatNeverOccursAsZeros) {
  const Picture picture(figure({0, 0, 1, 1}, true));
  const Box half = picture.boxOfLines(level(128));
  EXPECT_GT(half.top, picture.height() / 3);
}

TEST_F(ConfusionMatrix, LeavesOutNumbersThatWouldBeTooSmallToRead) {
  CanvasOptions small;
  small.width = 200;
  small.height = 150;
  std::vector<std::int64_t> counts(1600, 0);
  counts[0] = 9999;
  ConfusionMatrixOptions options;
  options.colormap = "gray_r";
  options.colorbar = false;
  Figure figure(small);
  figure.confusionMatrix(TensorView(counts.data(), {40, 40}), {}, options).setTitle("");
  const Picture picture(figure);
  const Box cell = picture.boxOf(level(0));
  EXPECT_EQ(picture.count(level(0)), cell.width() * cell.height());
}

}  // namespace
}  // namespace steptape
