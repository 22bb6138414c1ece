// SPDX-License-Identifier: Apache-2.0
#include "steptape/profile_figure.h"

#include "profile/figures/time_units.h"
#include "profile/span_chain.h"
#include "values/charts/picture.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

constexpr Rgb kForward{0x00, 0x72, 0xB2};
constexpr Rgb kInput{0xE6, 0x9F, 0x00};
constexpr Rgb kOtherTime{0xC8, 0xC8, 0xC8};

/// Returns steps of 10 ms, of which 2 ms are input, 6 ms forward and 2 ms unknown.
Trace trace(int steps) {
  SpanChain builder;
  for (int i = 0; i < steps; ++i) {
    const std::int64_t start = 10 * kMs * i;
    builder.step(i, start, start + 10 * kMs);
    builder.span("load", SpanKind::kInput, start, start + 2 * kMs);
    builder.op("mm", start + 2 * kMs, start + 8 * kMs);
  }
  return builder.build();
}

/// Without the legend, whose keys have the same colors.
Picture breakdownOf(const Trace& trace) {
  return Picture(stepBreakdown(trace).setLegend(LegendPlace::kNone));
}

/// Returns how many bars the pixel row at `y` crosses.
int barsAt(const Picture& picture, int y, const Rgb& color) {
  int bars = 0;
  for (int x = 1; x < picture.width(); ++x) {
    bars += picture.at(x, y) == color && picture.at(x - 1, y) != color ? 1 : 0;
  }
  return bars;
}

TEST(StepBreakdown, StacksThePartsOfAStep) {
  const Picture picture = breakdownOf(trace(1));
  const Box input = picture.boxOf(kInput);
  const Box forward = picture.boxOf(kForward);
  EXPECT_EQ(forward.bottom, input.top);
  EXPECT_EQ(forward.left, input.left);
  EXPECT_EQ(forward.right, input.right);
  EXPECT_NEAR(forward.height(), 3 * input.height(), 4) << "each is rounded to whole pixels";
  // Not boxOf(), because the edges of letters are also gray.
  int other = 0;
  while (picture.at(forward.centerX(), forward.top - 1 - other) == kOtherTime) {
    ++other;
  }
  EXPECT_NEAR(other, input.height(), 2);
}

TEST(StepBreakdown, HasABarForEachStep) {
  const Picture picture = breakdownOf(trace(7));
  EXPECT_EQ(barsAt(picture, picture.boxOf(kForward).centerY(), kForward), 7);
}

TEST(StepBreakdown, ShowsTheMeanOfSeveralStepsIfThereAreMany) {
  // 38 bars of 26 steps and one of 13, which is as high as the others.
  const Picture picture = breakdownOf(trace(1001));
  const Box forward = picture.boxOf(kForward);
  EXPECT_EQ(barsAt(picture, forward.top + 1, kForward), 39);
}

TEST(StepBreakdown, NamesThePartsThatOccur) {
  const Figure figure = stepBreakdown(trace(2));
  const Picture with(figure);
  const Picture without(Figure(figure).setLegend(LegendPlace::kNone));
  EXPECT_LT(with.boxOf(kForward).left, without.boxOf(kForward).right);
  const Rgb wait{0xD5, 0x5E, 0x00};
  EXPECT_EQ(with.count(wait), 0) << "no step has waited";
}

TEST(StepBreakdown, WithoutStepsHasEmptyAxes) {
  const Picture picture(stepBreakdown(Trace()));
  EXPECT_GT(picture.count(kWhitePixel), picture.width() * picture.height() / 2);
  EXPECT_EQ(picture.count(kForward), 0);
}

TEST(StepBreakdown, GivesTheSameBytesEachTime) {
  EXPECT_TRUE(stepBreakdown(trace(5)).render().bytes == stepBreakdown(trace(5)).render().bytes);
}

}  // namespace
}  // namespace steptape
