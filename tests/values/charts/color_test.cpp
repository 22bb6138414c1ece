// SPDX-License-Identifier: Apache-2.0
#include "values/charts/color.h"

#include <cmath>
#include <set>
#include <string>

#include "support/expect_error.h"
#include "values/charts/colormap.h"

namespace steptape::figure {
namespace {

using test::expectInvalidArgument;

/// 0xRRGGBB.
unsigned rgb(const Color& color) {
  const auto byte = [](double part) { return static_cast<unsigned>(std::lround(part * 255)); };
  return byte(color.red) << 16 | byte(color.green) << 8 | byte(color.blue);
}

TEST(ParseColor, ReadsHexadecimalDigits) {
  EXPECT_EQ(rgb(parseColor("#1f77B4", "test")), 0x1F77B4U);
  EXPECT_EQ(rgb(parseColor("#f08", "test")), 0xFF0088U);
  EXPECT_DOUBLE_EQ(parseColor("#00000033", "test").alpha, 0.2);
}

TEST(ParseColor, ReadsNamesAndTheCycle) {
  EXPECT_EQ(rgb(parseColor("black", "test")), 0U);
  EXPECT_EQ(rgb(parseColor("C1", "test")), rgb(cycleColor(1)));
  EXPECT_EQ(rgb(cycleColor(8)), rgb(cycleColor(0)));
}

TEST(ParseColor, RejectsWhatNamesNoColor) {
  for (const std::string text : {"", "#", "#12", "#12345g", "#123456789", "C8", "C", "mauve"}) {
    expectInvalidArgument([&] { parseColor(text, "Figure::line"); },
                          "Figure::line: got color = \"" + text +
                              R"("; expected a color such as "#1f77b4", "C0" to "C7" or "red")");
  }
}

TEST(TextColor, IsTheMoreLegibleOne) {
  EXPECT_EQ(rgb(textColorOn(parseColor("#08306b", "test"))), rgb(kWhite));
  EXPECT_EQ(rgb(textColorOn(parseColor("#f7fbff", "test"))), rgb(kInk));
  EXPECT_EQ(rgb(textColorOn(parseColor("#ffff00", "test"))), rgb(kInk));
}

TEST(RelativeLuminance, AgreesWithWcag) {
  // Computed by hand from the formula: ((0.5 + 0.055) / 1.055) ^ 2.4 = 0.2140.
  EXPECT_NEAR(relativeLuminance({0.5, 0.5, 0.5, 1}), 0.2140, 1e-4);
  EXPECT_NEAR(relativeLuminance(kWhite), 1, 1e-12);
}

TEST(Colormap, BeginsAndEndsWithThePublishedColors) {
  EXPECT_EQ(rgb(Colormap("viridis", "test").at(0)), 0x440154U);
  EXPECT_EQ(rgb(Colormap("viridis", "test").at(1)), 0xFDE725U);
  EXPECT_EQ(rgb(Colormap("blues", "test").at(0.5)), 0x6BAED6U);
}

TEST(Colormap, InterpolatesBetweenThem) {
  EXPECT_EQ(rgb(Colormap("gray", "test").at(0.25)), 0x404040U);
}

TEST(Colormap, ClampsNumbersOutsideTheRange) {
  EXPECT_EQ(rgb(Colormap("gray", "test").at(-3)), 0x000000U);
  EXPECT_EQ(rgb(Colormap("gray", "test").at(3)), 0xFFFFFFU);
}

TEST(Colormap, CanBeReversed) {
  EXPECT_EQ(rgb(Colormap("viridis_r", "test").at(0)), 0xFDE725U);
}

TEST(Colormap, NamesTheKnownOnesForAnUnknownOne) {
  expectInvalidArgument([] { Colormap("jet", "Figure::heatMap"); },
                        "Figure::heatMap: got colormap = \"jet\"; expected one of \"viridis\", "
                        "\"magma\", \"blues\", \"rdbu\", \"gray\", with \"_r\" to reverse it");
}

TEST(ColorOfName, IsLegibleUnderDarkTextWhateverTheName) {
  for (int i = 0; i < 2000; ++i) {
    const Color color = colorOfName("aten::op" + std::to_string(i));
    // WCAG requires a contrast of 4.5 : 1.
    EXPECT_GT((relativeLuminance(color) + 0.05) / (relativeLuminance(kInk) + 0.05), 4.5) << i;
  }
}

TEST(ColorOfName, SpreadsNamesThatDifferInTheirLastLetter) {
  std::set<int> tenths;
  for (char last = 'a'; last <= 'z'; ++last) {
    tenths.insert(static_cast<int>(10 * colorOfName(std::string("layer.") + last).red));
  }
  EXPECT_GE(tenths.size(), 3U);
}

}  // namespace
}  // namespace steptape::figure
