// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/charts/braille_canvas.h"

#include <string>

#include <gtest/gtest.h>

namespace steptape::tools {
namespace {

/// Returns one line of characters per row.
std::string shown(const BrailleCanvas& canvas) {
  std::string text;
  for (int row = 0; row < canvas.rows(); ++row) {
    for (int column = 0; column < canvas.columns(); ++column) {
      text += BrailleCanvas::pattern(canvas.dotsAt(column, row));
    }
    text += '\n';
  }
  return text;
}

TEST(BrailleCanvas, PutsEachDotWhereUnicodeHasIt) {
  // The characters for dots 1, 2, 3, 7 and 4, 5, 6, 8, from the Unicode code chart U2800.
  const char* const patterns[2][4] = {{"\u2801", "\u2802", "\u2804", "\u2840"},
                                      {"\u2808", "\u2810", "\u2820", "\u2880"}};
  for (int x = 0; x < 2; ++x) {
    for (int y = 0; y < 4; ++y) {
      BrailleCanvas canvas(1, 1);
      canvas.dot(x, y);
      EXPECT_EQ(BrailleCanvas::pattern(canvas.dotsAt(0, 0)), patterns[x][y]) << x << ' ' << y;
    }
  }
}

TEST(BrailleCanvas, JoinsDotsInOneCell) {
  BrailleCanvas canvas(1, 1);
  canvas.line(0, 0, 0, 3);
  canvas.line(1, 3, 1, 0);
  EXPECT_EQ(shown(canvas), "\u28ff\n");
}

TEST(BrailleCanvas, CountsDotsFromTheTopLeft) {
  BrailleCanvas canvas(2, 2);
  EXPECT_EQ(canvas.dotsAcross(), 4);
  EXPECT_EQ(canvas.dotsDown(), 8);
  canvas.dot(3, 4);
  EXPECT_EQ(shown(canvas), "\u2800\u2800\n\u2800\u2808\n");
}

TEST(BrailleCanvas, DrawsADiagonal) {
  BrailleCanvas canvas(2, 1);
  canvas.line(0, 0, 3, 3);
  EXPECT_EQ(shown(canvas), "\u2811\u2884\n");
}

TEST(BrailleCanvas, DrawsTheSameLineBackwards) {
  BrailleCanvas forward(4, 2);
  BrailleCanvas backward(4, 2);
  forward.line(0, 7, 7, 0);
  backward.line(7, 0, 0, 7);
  EXPECT_EQ(shown(forward), shown(backward));
}

TEST(BrailleCanvas, DrawsALineOfOneDot) {
  BrailleCanvas canvas(1, 1);
  canvas.line(1, 1, 1, 1);
  EXPECT_EQ(shown(canvas), "\u2810\n");
}

TEST(BrailleCanvas, ClipsAtItsEdges) {
  BrailleCanvas canvas(1, 1);
  canvas.line(-5, 0, 6, 0);
  canvas.dot(0, 4);
  canvas.dot(2, 0);
  EXPECT_EQ(shown(canvas), "\u2809\n");
}

}  // namespace
}  // namespace steptape::tools
