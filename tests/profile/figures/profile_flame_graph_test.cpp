// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <string>

#include "steptape/profile_figure.h"

#include "profile/figures/time_units.h"
#include "profile/span_chain.h"
#include "values/charts/color.h"
#include "values/charts/picture.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

constexpr Rgb kOther{0xD5, 0xD5, 0xD5};

/// Returns the color of the block called `name`.
Rgb colorOf(const std::string& name) {
  const figure::Color color = figure::colorOfName(name);
  const auto byte = [](double part) { return static_cast<std::uint8_t>(std::lround(part * 255)); };
  return {byte(color.red), byte(color.green), byte(color.blue)};
}

/// Returns `depth` nested spans, each a nanosecond shorter at either end.
Trace deepTrace(int depth) {
  SpanChain builder;
  for (int i = 0; i < depth; ++i) {
    builder.op("level " + std::to_string(i), i, 100000 - i);
  }
  return builder.build();
}

TEST(FlameGraphOfTrace, ShowsTheNestingAndTimeOfSpans) {
  const Picture picture(flameGraph(SpanChain()
                                       .op("forward", 0, 60 * kMs)
                                       .op("mm", 0, 30 * kMs)
                                       .op("backward", 60 * kMs, 100 * kMs)
                                       .build()));
  const Box forward = picture.boxOf(colorOf("forward"));
  const Box backward = picture.boxOf(colorOf("backward"));
  const Box mm = picture.boxOf(colorOf("mm"));
  EXPECT_NEAR(2 * forward.width(), 3 * backward.width(), 5);
  EXPECT_EQ(forward.top, backward.top);
  EXPECT_NEAR(2 * mm.width(), forward.width(), 3);
  EXPECT_EQ(mm.left, forward.left);
  EXPECT_GT(mm.top, forward.bottom - 1);
}

TEST(FlameGraphOfTrace, OfOneSpanIsOneBlock) {
  const Picture picture(flameGraph(SpanChain().op("only", 5, 17).build()));
  EXPECT_GT(picture.boxOf(colorOf("only")).width(), picture.width() * 9 / 10);
}

TEST(FlameGraphOfTrace, LeavesOutThePrefixesOfOperators) {
  const auto render = [](const std::string& name) {
    return flameGraph(SpanChain().op(name, 0, kMs).build()).render().bytes;
  };
  EXPECT_EQ(render("aten::mm"), render("mm"));
  EXPECT_EQ(render("autograd::engine::evaluate_function: MmBackward0"), render("MmBackward0"));
  EXPECT_NE(render("mine::mm"), render("mm"));
}

TEST(FlameGraphOfTrace, OfNothingHasEmptyAxes) {
  const Picture picture(flameGraph(Trace()));
  EXPECT_GT(picture.count(kWhitePixel), picture.width() * picture.height() / 2);
}

TEST(FlameGraphOfTrace, PutsSmallBlocksTogether) {
  SpanChain builder;
  builder.op("parent", 0, 1000000);
  builder.op("large", 0, 900000);
  for (int i = 0; i < 100; ++i) {
    builder.op("small" + std::to_string(i), 900000 + 1000 * i, 901000 + 1000 * i);
  }
  const Picture picture(flameGraph(builder.build()));
  const Box large = picture.boxOf(colorOf("large"));
  // Not boxOf(), because the edges of letters are also gray.
  int x = large.right + 1;
  while (picture.at(x, large.top) == kOther) {
    ++x;
  }
  EXPECT_NEAR(9 * (x - large.right), large.width(), 10);
}

TEST(FlameGraphOfTrace, GrowsWithItsRowsUpToALimit) {
  const int few = Picture(flameGraph(deepTrace(8))).height();
  const int more = Picture(flameGraph(deepTrace(20))).height();
  EXPECT_GT(more, few + 200);
  const int most = Picture(flameGraph(deepTrace(256))).height();
  EXPECT_GT(most, more);
  EXPECT_LT(most, 1000);
  EXPECT_EQ(Picture(flameGraph(deepTrace(5000))).height(), most);
}

TEST(FlameGraphOfTrace, StatesThatDeeperCallsAreNotShown) {
  const Picture whole(flameGraph(deepTrace(24)));
  const Picture cut(flameGraph(deepTrace(25)));
  ASSERT_EQ(whole.height(), cut.height());
  int differences = 0;
  for (int y = 0; y < cut.height(); ++y) {
    for (int x = 0; x < cut.width(); ++x) {
      if (whole.at(x, y) != cut.at(x, y)) {
        ++differences;
        EXPECT_GT(y, cut.height() - 40) << "only the label below differs";
      }
    }
  }
  EXPECT_GT(differences, 100);
}

TEST(FlameGraphOfTrace, StaysSmallForManySpans) {
  SpanChain builder;
  for (int i = 0; i < 100000; ++i) {
    builder.op("aten::op" + std::to_string(i % 5000), 10 * i, 10 * i + 9);
  }
  const Figure figure = flameGraph(builder.build());
  const Picture picture(figure);
  EXPECT_GT(picture.boxOf(kOther).width(), picture.width() * 4 / 5)
      << "each call is too small to be seen";
  EXPECT_LT(FigureTraits<Figure>::capture(figure).bytes, 100000U);
  EXPECT_LT(figure.render().bytes.size(), 200000U);
}

TEST(FlameGraphOfTrace, GivesTheSameBytesEachTime) {
  const Trace trace = deepTrace(10);
  EXPECT_TRUE(flameGraph(trace).render().bytes == flameGraph(trace).render().bytes);
}

}  // namespace
}  // namespace steptape
