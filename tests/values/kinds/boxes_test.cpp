// SPDX-License-Identifier: Apache-2.0
#include "values/kinds/image/boxes.h"

#include <limits>
#include <string>

#include "support/expect_error.h"

namespace steptape {
namespace {

using test::expectInvalidArgument;
using Art = std::vector<std::string>;
using Bytes = std::vector<std::uint8_t>;

constexpr int kWidth = 14;
constexpr int kHeight = 10;

detail::values::Pixels filled(int width, int height, int channels, std::uint8_t value) {
  detail::values::Pixels pixels{width, height, channels, {}};
  pixels.data.assign(static_cast<std::size_t>(width) * height * channels, value);
  return pixels;
}

std::array<std::uint8_t, 3> colorAt(const detail::values::Pixels& pixels, int x, int y) {
  const std::size_t i =
      (static_cast<std::size_t>(y) * pixels.width + x) * static_cast<std::size_t>(pixels.channels);
  return {pixels.data[i], pixels.data[i + 1], pixels.data[i + 2]};
}

/// Returns '#' for red pixels, '.' for black ones, and '?' for others.
Art artOf(const detail::values::Pixels& pixels) {
  Art art;
  for (int y = 0; y < pixels.height; ++y) {
    std::string row;
    for (int x = 0; x < pixels.width; ++x) {
      const auto color = colorAt(pixels, x, y);
      row += color == std::array<std::uint8_t, 3>{255, 0, 0} ? '#'
             : color == std::array<std::uint8_t, 3>{0, 0, 0} ? '.'
                                                             : '?';
    }
    art.push_back(row);
  }
  return art;
}

Art drawn(const detail::values::BoxCorners& box) {
  return artOf(detail::values::drawBoxes(filled(kWidth, kHeight, 3, 0), {box}));
}

// The images of this and the next four tests: tensorboardX 2.6.5, make_image() with Pillow 13.0.
TEST(DrawBoxes, OutlinesLikeTensorboardX) {
  EXPECT_EQ(drawn({3, 2, 10, 7}),
            (Art{"..............", "...########...", "...########...", "...##....##...",
                 "...##....##...", "...##....##...", "...##....##...", "...########...",
                 "...########...", ".............."}));
}

TEST(DrawBoxes, TakesCornersInAnyOrder) {
  EXPECT_EQ(drawn({10, 7, 3, 2}), drawn({3, 2, 10, 7}));
}

TEST(DrawBoxes, ClipsAndCutsCoordinates) {
  EXPECT_EQ(drawn({-2, 4.9, 6.9, 30}),
            (Art{"..............", "..............", "..............", "#######.......",
                 "#######.......", ".....##.......", ".....##.......", ".....##.......",
                 ".....##.......", ".....##......."}));
}

TEST(DrawBoxes, DrawsABoxWithoutWidthAroundItsLine) {
  EXPECT_EQ(drawn({2, 3, 2, 8}),
            (Art{"..............", "..............", "..............", ".###..........",
                 ".###..........", ".###..........", ".###..........", ".###..........",
                 ".###..........", ".............."}));
}

TEST(DrawBoxes, DrawsABoxWithoutSizeAsAPoint) {
  Art wanted(kHeight, std::string(kWidth, '.'));
  wanted[5][5] = '#';
  EXPECT_EQ(drawn({5, 5, 5, 5}), wanted);
}

TEST(DrawBoxes, ClipsABoxFarOutsideTheImage) {
  EXPECT_EQ(drawn({1e300, 1e300, 2e300, 2e300}), Art(kHeight, std::string(kWidth, '.')));
  EXPECT_EQ(drawn({-1e300, -1e300, 1e300, 1e300}), Art(kHeight, std::string(kWidth, '.')));
}

TEST(DrawBoxes, KeepsAnImageWithoutBoxes) {
  const detail::values::Pixels image = filled(5, 4, 3, 77);
  EXPECT_EQ(detail::values::drawBoxes(image, {}).data, image.data);
}

TEST(DrawBoxes, MakesAGrayImageColored) {
  const detail::values::Pixels pixels =
      detail::values::drawBoxes(filled(kWidth, kHeight, 1, 40), {{3, 2, 10, 7}});
  EXPECT_EQ(pixels.channels, 3);
  EXPECT_EQ(colorAt(pixels, 0, 0), (std::array<std::uint8_t, 3>{40, 40, 40}));
  EXPECT_EQ(colorAt(pixels, 3, 2), (std::array<std::uint8_t, 3>{255, 0, 0}));
}

TEST(DrawBoxes, DrawsOpaquelyIntoATransparentImage) {
  const detail::values::Pixels pixels =
      detail::values::drawBoxes(filled(kWidth, kHeight, 4, 0), {{3, 2, 10, 7}});
  EXPECT_EQ(pixels.channels, 4);
  EXPECT_EQ(pixels.data[3], 0);
  EXPECT_EQ(pixels.data[(2 * kWidth + 3) * 4 + 3], 255);
}

TEST(DrawBoxes, WritesALabelAboveTheBottomEdge) {
  BoxOptions options;
  options.labels = {"Lq"};
  EXPECT_EQ(artOf(detail::values::drawBoxes(filled(20, 16, 3, 255), {{2, 1, 17, 13}}, options)),
            (Art{"??################??", "??################??", "??#############?##??",
                 "??#.###########?##??", "??#.###########?##??", "??#.######....#?##??",
                 "??#.#####.###.#?##??", "??#.#####.###.#?##??", "??#.#####.##..#?##??",
                 "??#.....##..#.#?##??", "??###########.#?##??", "??###########.#?##??",
                 "??#############?##??", "??################??", "??################??",
                 "????????????????????"}));
}

TEST(DrawBoxes, DrawsABoxForANonAsciiCharacter) {
  BoxOptions options;
  options.labels = {"\xC3\xA9"};  // one character of two bytes
  const detail::values::Pixels accent =
      detail::values::drawBoxes(filled(20, 16, 3, 255), {{2, 1, 17, 13}}, options);
  options.labels = {"\x01"};
  EXPECT_EQ(accent.data,
            detail::values::drawBoxes(filled(20, 16, 3, 255), {{2, 1, 17, 13}}, options).data);
  options.labels = {"e"};
  EXPECT_NE(accent.data,
            detail::values::drawBoxes(filled(20, 16, 3, 255), {{2, 1, 17, 13}}, options).data);
}

TEST(DrawBoxes, HasADistinctGlyphForEveryAsciiCharacter) {
  std::vector<Bytes> seen;
  for (char c = ' '; c <= '~'; ++c) {
    BoxOptions options;
    options.labels = {std::string(1, c)};
    seen.push_back(
        detail::values::drawBoxes(filled(20, 16, 3, 255), {{2, 1, 17, 13}}, options).data);
    for (std::size_t i = 0; i + 1 < seen.size(); ++i) {
      EXPECT_NE(seen[i], seen.back()) << c << " looks like " << static_cast<char>(' ' + i);
    }
  }
}

TEST(DrawBoxes, ClipsALabel) {
  BoxOptions options;
  options.labels = {"a label that is far longer than its image"};
  const detail::values::Pixels pixels =
      detail::values::drawBoxes(filled(20, 16, 3, 255), {{-3, 1, 17, 4}}, options);
  EXPECT_EQ(colorAt(pixels, 19, 4), (std::array<std::uint8_t, 3>{255, 0, 0}));
  EXPECT_EQ(colorAt(pixels, 19, 6), (std::array<std::uint8_t, 3>{255, 255, 255}));
}

TEST(DrawBoxes, LeavesAnEmptyLabelOut) {
  BoxOptions options;
  options.labels = {""};
  const detail::values::Pixels image = filled(kWidth, kHeight, 3, 0);
  EXPECT_EQ(detail::values::drawBoxes(image, {{3, 2, 10, 7}}, options).data,
            detail::values::drawBoxes(image, {{3, 2, 10, 7}}).data);
}

TEST(DrawBoxes, GivesEveryBoxItsColor) {
  BoxOptions options;
  options.colors = {{1, 2, 3}, {4, 5, 6}};
  const detail::values::Pixels pixels =
      detail::values::drawBoxes(filled(20, 20, 3, 0), {{2, 3, 5, 5}, {9, 9, 15, 15}}, options);
  EXPECT_EQ(colorAt(pixels, 2, 3), (std::array<std::uint8_t, 3>{1, 2, 3}));
  EXPECT_EQ(colorAt(pixels, 9, 9), (std::array<std::uint8_t, 3>{4, 5, 6}));
}

TEST(DrawBoxes, GivesEveryDistinctLabelItsColor) {
  BoxOptions options;
  options.labels = {"dog", "cat", "dog"};
  options.colors = {{1, 2, 3}, {4, 5, 6}};
  const std::vector<detail::values::BoxCorners> boxes = {
      {0, 15, 9, 18}, {12, 15, 19, 18}, {24, 15, 29, 18}};
  const detail::values::Pixels pixels =
      detail::values::drawBoxes(filled(40, 24, 3, 0), boxes, options);
  EXPECT_EQ(colorAt(pixels, 0, 18), (std::array<std::uint8_t, 3>{1, 2, 3}));
  EXPECT_EQ(colorAt(pixels, 12, 18), (std::array<std::uint8_t, 3>{4, 5, 6}));
  EXPECT_EQ(colorAt(pixels, 24, 18), (std::array<std::uint8_t, 3>{1, 2, 3}));
}

TEST(DrawBoxes, WritesWhiteOnADarkColor) {
  BoxOptions options;
  options.labels = {"L"};
  options.colors = {{0, 0, 90}};
  const detail::values::Pixels pixels =
      detail::values::drawBoxes(filled(20, 16, 3, 0), {{2, 1, 17, 13}}, options);
  EXPECT_EQ(colorAt(pixels, 3, 3), (std::array<std::uint8_t, 3>{255, 255, 255}));
}

detail::values::Pixels ramp(int width, int height, int channels) {
  detail::values::Pixels pixels = filled(width, height, channels, 0);
  for (std::size_t i = 0; i < pixels.data.size(); ++i) {
    pixels.data[i] = static_cast<std::uint8_t>(i * 4);
  }
  return pixels;
}

BoxOptions rescaled(double rescale) {
  BoxOptions options;
  options.rescale = rescale;
  return options;
}

// The pixels of this and the next two tests: tensorboardX 2.6.5, make_image(rescale=...), Pillow
// 13.0.
TEST(DrawBoxes, EnlargesLikePillow) {
  const detail::values::Pixels pixels = detail::values::drawBoxes(ramp(5, 4, 3), {}, rescaled(2));
  EXPECT_EQ(pixels.width, 10);
  EXPECT_EQ(pixels.height, 8);
  Bytes red;
  for (int x = 0; x < 10; ++x) {
    red.push_back(colorAt(pixels, x, 0)[0]);
  }
  EXPECT_EQ(red, (Bytes{0, 0, 2, 10, 15, 21, 26, 34, 40, 43}));
  red.clear();
  for (int x = 0; x < 10; ++x) {
    red.push_back(colorAt(pixels, x, 7)[0]);
  }
  EXPECT_EQ(red, (Bytes{185, 188, 194, 202, 207, 213, 218, 226, 232, 235}));
}

TEST(DrawBoxes, ShrinksLikePillow) {
  EXPECT_EQ(detail::values::drawBoxes(ramp(5, 4, 3), {}, rescaled(0.5)).data,
            (Bytes{42, 46, 50, 70, 74, 78, 158, 162, 166, 186, 190, 194}));
}

TEST(DrawBoxes, WeighsColorsWithTheirAlphaLikePillow) {
  EXPECT_EQ(detail::values::drawBoxes(ramp(4, 4, 4), {}, rescaled(0.5)).data,
            (Bytes{51, 55, 60, 55, 81, 84, 87, 85, 168, 172, 175, 179, 198, 203, 207, 209}));
}

TEST(BoxCorners, AreTakenFromAnyElementType) {
  const std::int64_t integers[] = {1, 2, 3, 4};
  EXPECT_EQ(detail::values::boxCorners(TensorView(integers, {1, 4})),
            (std::vector<detail::values::BoxCorners>{{1, 2, 3, 4}}));
  const float floats[] = {1, 5, 2, 6, 3, 7, 4, 8};
  EXPECT_EQ(detail::values::boxCorners(TensorView(floats, {2, 4}, {1, 2})),
            (std::vector<detail::values::BoxCorners>{{1, 2, 3, 4}, {5, 6, 7, 8}}));
}

TEST(BoxCorners, RejectsNonFiniteCoordinates) {
  const float nan[] = {0, 0, 1, 1, 0, 0, std::numeric_limits<float>::quiet_NaN(), 1};
  expectInvalidArgument(
      [&] {
        detail::values::boxCorners(TensorView(nan, {2, 4}));
      },
      "got right of box 1 = nan; expected a finite number");
  const double infinite[] = {0, -std::numeric_limits<double>::infinity(), 1, 1};
  expectInvalidArgument(
      [&] {
        detail::values::boxCorners(TensorView(infinite, {1, 4}));
      },
      "got top of box 0 = -inf; expected a finite number");
}

class CheckBoxes : public ::testing::Test {
 protected:
  static void check(std::vector<std::int64_t> boxes, const BoxOptions& options = {}) {
    static const std::vector<float> kMemory(64);
    detail::values::checkBoxes(TensorView(kMemory.data(), {3, 4, 5}),
                               TensorView(kMemory.data(), std::move(boxes)), options);
  }
};

TEST_F(CheckBoxes, AcceptsZeroBoxes) {
  EXPECT_NO_THROW(check({0, 4}));
}

TEST_F(CheckBoxes, RejectsAnotherShape) {
  expectInvalidArgument([] { check({4}); },
                        "got boxes of shape (4); expected (N, 4): left, top, right, bottom");
  expectInvalidArgument(
      [] {
        check({2, 5});
      },
      "got boxes of shape (2, 5); expected (N, 4): left, top, right, bottom");
}

TEST_F(CheckBoxes, RejectsAnotherNumberOfLabels) {
  BoxOptions options;
  options.labels = {"cat"};
  expectInvalidArgument(
      [&] {
        check({2, 4}, options);
      },
      "got 1 labels; expected one for each of 2 boxes, or none");
}

TEST_F(CheckBoxes, RejectsAnotherNumberOfColors) {
  BoxOptions options;
  options.colors = {{1, 2, 3}};
  expectInvalidArgument(
      [&] {
        check({2, 4}, options);
      },
      "got 1 colors; expected one for each of 2 boxes, or none");
  options.labels = {"cat", "dog"};
  expectInvalidArgument(
      [&] {
        check({2, 4}, options);
      },
      "got 1 colors; expected one for each of 2 boxes or of 2 distinct labels, or none");
}

TEST_F(CheckBoxes, RejectsAScaleThatLeavesNothing) {
  expectInvalidArgument(
      [] {
        check({2, 4}, rescaled(0));
      },
      "got rescale = 0.000000; expected a positive number");
  expectInvalidArgument(
      [] {
        check({2, 4}, rescaled(std::numeric_limits<double>::infinity()));
      },
      "got rescale = inf; expected a positive number");
  expectInvalidArgument(
      [] {
        check({2, 4}, rescaled(0.2));
      },
      "PNG: got an image of 1 x 0 pixels with 3 channels; expected positive sides");
  expectInvalidArgument(
      [] {
        check({2, 4}, rescaled(1e12));
      },
      "PNG: got an image of 2147483647 x 2147483647 pixels with 3 channels; expected at most 1 "
      "GiB");
}

TEST_F(CheckBoxes, RejectsAnImageOfAnotherFormat) {
  BoxOptions options;
  options.dataFormat = "HW";
  expectInvalidArgument(
      [&] {
        check({2, 4}, options);
      },
      "got shape (3, 4, 5); expected 2 dimensions for dataFormat \"HW\"");
}

}  // namespace
}  // namespace steptape
