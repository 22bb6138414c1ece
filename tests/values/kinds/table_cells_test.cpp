// SPDX-License-Identifier: Apache-2.0
#include "values/kinds/table_cells.h"

#include <string>

#include <gtest/gtest.h>

namespace steptape::detail::values {
namespace {

TEST(TableCells, BreakWideTextAtSpaces) {
  EXPECT_EQ(brokenText("[[64, 1, 28, 28], [10, 1, 5, 5]]"), "[[64, 1, 28, 28], [10, 1, 5, 5]]");
  EXPECT_EQ(brokenText("[[64, 1, 28, 28], [10, 1, 5, 5], [10], [], [], [], [], [], []]"),
            "[[64, 1, 28, 28], [10, 1, 5, 5], [10],<br>[], [], [], [], [], []]");
}

TEST(TableCells, BreakCodeIntoSpansOfItsOwn) {
  EXPECT_EQ(codeSpan("autograd::engine::evaluate_function: ConvolutionBackward0"),
            "`autograd::engine::evaluate_function:`<br>`ConvolutionBackward0`");
  EXPECT_EQ(codeSpan("say `a`"), "`say 'a'`");
}

TEST(TableCells, KeepWhatHasNoSpaceInOneLine) {
  const std::string wide(100, 'x');
  EXPECT_EQ(brokenText(wide), wide);
  EXPECT_EQ(brokenText(wide + " a"), wide + "<br>a");
  EXPECT_EQ(brokenText("a " + wide), "a<br>" + wide);
  EXPECT_EQ(brokenText(""), "");
}

TEST(TableCells, RoundHalfAwayFromZero) {
  EXPECT_EQ(millisecondsText(1'234'500), "1.235");
  EXPECT_EQ(millisecondsText(-1'234'500), "-1.235");
  EXPECT_EQ(millisecondsText(-499), "0.000");
  EXPECT_EQ(microsecondsText(7), "0.007");
  EXPECT_EQ(megabytesText(-1'250'000), "-1.25");
  EXPECT_EQ(percentText(1.0, 1000.0), "0.1");
  EXPECT_EQ(percentText(1.0, 0.0), "0.0");
}

}  // namespace
}  // namespace steptape::detail::values
