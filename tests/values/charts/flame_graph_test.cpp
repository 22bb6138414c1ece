// SPDX-License-Identifier: Apache-2.0
// The pixels of a drawn tree of blocks.
#include <string>
#include <utility>
#include <vector>

#include "values/charts/picture.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

constexpr Rgb kBlue{0, 0, 255};

FlameBlock block(const std::string& name, double self, const std::string& color = "",
                 std::vector<FlameBlock> children = {}) {
  FlameBlock block;
  block.name = name;
  block.self = self;
  block.children = std::move(children);
  block.color = color;
  return block;
}

Figure graphOf(const std::vector<FlameBlock>& blocks) {
  Figure figure;
  figure.flameGraph(blocks).setGrid(false);
  return figure;
}

/// Returns a chain of blocks without names, each in the previous one.
FlameBlock chain(int length, const std::string& lastColor) {
  FlameBlock inner = block("", 1, lastColor);
  for (int i = 1; i < length; ++i) {
    inner = block("", 0, "#00ff00", {inner});
  }
  return inner;
}

TEST(FlameGraph, MakesABlockAsWideAsItsShare) {
  const Picture picture(graphOf({block("", 1, "#ff0000"), block("", 3, "#00ff00")}));
  const Box quarter = picture.boxOf(kRed);
  const Box rest = picture.boxOf(kLime);
  EXPECT_NEAR(rest.width(), 3 * quarter.width(), 3);
  EXPECT_EQ(rest.left, quarter.right + 1) << "a gap of one pixel";
  EXPECT_EQ(picture.count(kRed), quarter.width() * quarter.height());
}

TEST(FlameGraph, PutsChildrenBelowTheirParentAndWithinIt) {
  const Picture picture(
      graphOf({block("", 2, "#cccccc"),
               block("", 1, "#ff0000", {block("", 1, "#00ff00"), block("", 2, "#0000ff")})}));
  const Box parent = picture.boxOf(kRed);
  const Box first = picture.boxOf(kLime);
  const Box second = picture.boxOf(kBlue);
  EXPECT_EQ(first.top, parent.bottom + 1);
  EXPECT_EQ(second.top, first.top);
  EXPECT_EQ(first.left, parent.left);
  EXPECT_LT(second.right, parent.right) << "what the parent has itself is at the right";
  EXPECT_NEAR(first.width() + 1, (parent.width() + 1) / 4, 1);
  EXPECT_NEAR(second.width() + 1, (parent.width() + 1) / 2, 1);
}

TEST(FlameGraph, FillsTheWidthOfTheAxesAndNoMore) {
  const Picture picture(graphOf({block("", 1, "#ff0000")}));
  const Box box = picture.boxOf(kRed);
  EXPECT_LT(box.right, picture.width());
  EXPECT_GT(box.width(), picture.width() * 9 / 10);
}

TEST(FlameGraph, KeepsEveryRowOfADeepTreeInThePicture) {
  const Picture picture(graphOf({chain(256, "#ff0000")}));
  const Box last = picture.boxOf(kRed);
  EXPECT_LT(last.bottom, picture.height() - 10) << "the numbers of the axis lie below";
  EXPECT_GE(last.top, picture.boxOf(kLime).bottom);
}

TEST(FlameGraph, TakesTreesThatAreDeeperThanThePictureIsHigh) {
  const Picture picture(graphOf({chain(2000, "#00ff00")}));
  EXPECT_GT(picture.count(kLime), picture.width() * picture.height() / 2);
}

TEST(FlameGraph, LeavesRoomFreeRatherThanStretchFewRows) {
  EXPECT_LT(Picture(graphOf({block("", 1, "#ff0000")})).boxOf(kRed).height(), 30);
}

TEST(FlameGraph, GivesAnEqualNameTheSameColorEverywhere) {
  const auto corner = [](const std::vector<FlameBlock>& blocks) {
    const Picture picture(graphOf(blocks));
    const Box left = picture.boxOf(kRed);
    return picture.at(left.left + 1, left.bottom + 2);
  };
  const Rgb alone = corner({block("", 1, "#ff0000", {block("aten::mm", 2)})});
  const Rgb among =
      corner({block("", 5, "#ff0000", {block("aten::mm", 1), block("other", 1)}), block("x", 9)});
  const Rgb another = corner({block("", 1, "#ff0000", {block("aten::mn", 2)})});
  EXPECT_EQ(alone, among);
  EXPECT_NE(alone, another);
}

TEST(FlameGraph, CutsANameToItsBlock) {
  // The space to the right of the child is empty, so that a longer text would be visible.
  const std::string name(40, 'H');
  const Picture picture(graphOf({block("", 9, "#ff0000", {block(name, 1, "#ffff00")})}));
  const Box box = picture.boxOf({255, 255, 0});
  EXPECT_LT(picture.count({255, 255, 0}), box.width() * box.height()) << "there is no text";
  for (int y = box.top; y < box.bottom; ++y) {
    for (int x = box.right; x < picture.width(); ++x) {
      ASSERT_EQ(picture.at(x, y), kWhitePixel) << "the text goes on";
    }
  }
}

TEST(FlameGraph, LeavesOutANameWithoutRoomForThreeLetters) {
  const Picture picture(graphOf({block("HHHHHHHH", 4, "#ffff00"), block("", 96, "#00ff00")}));
  const Box box = picture.boxOf({255, 255, 0});
  EXPECT_EQ(picture.count({255, 255, 0}), box.width() * box.height());
}

TEST(FlameGraph, WritesAShortNameIntoANarrowBlock) {
  const Picture picture(graphOf({block("hi", 5, "#ffff00"), block("", 95, "#00ff00")}));
  const Box box = picture.boxOf({255, 255, 0});
  EXPECT_LT(picture.count({255, 255, 0}), box.width() * box.height());
}

TEST(FlameGraph, TakesNamesOfAnyLength) {
  const std::string endless(1 << 20, 'x');
  const Picture picture(graphOf({block(endless, 1, "#ffff00")}));
  EXPECT_GT(picture.count({255, 255, 0}), 1000);
}

TEST(FlameGraph, LeavesOutBlocksNarrowerThanAPixel) {
  std::vector<FlameBlock> blocks(100000, block("x", 1e-9, "#ff0000"));
  blocks.push_back(block("", 1, "#00ff00"));
  const Picture picture(graphOf(blocks));
  EXPECT_EQ(picture.count(kRed), 0);
  EXPECT_GT(picture.count(kLime), 1000);
}

TEST(FlameGraph, HasEmptyAxesWithoutBlocks) {
  const Picture nothing(graphOf({}));
  EXPECT_EQ(nothing.count(kRed), 0);
  EXPECT_LT(nothing.count(kWhitePixel), nothing.width() * nothing.height());
  EXPECT_GT(Picture(graphOf({block("x", 0, "#ff0000")})).count(kWhitePixel), 0);
}

TEST(FlameGraph, GivesTheSameBytesEachTime) {
  const Figure figure = graphOf({block("step", 1, "", {block("mm", 2), block("relu", 1)})});
  EXPECT_TRUE(figure.render().bytes == Figure(figure).render().bytes);
}

}  // namespace
}  // namespace steptape
