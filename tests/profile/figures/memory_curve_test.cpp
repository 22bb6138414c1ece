// SPDX-License-Identifier: Apache-2.0
#include "steptape/profile_figure.h"

#include "profile/figures/time_units.h"
#include "profile/span_chain.h"
#include "values/charts/picture.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

constexpr Rgb kCurve{0x00, 0x72, 0xB2};
constexpr Rgb kMarker{0, 0, 0};

Picture curveOf(const Trace& trace) {
  return Picture(memoryCurve(trace).setLegend(LegendPlace::kNone).setGrid(false));
}

/// Returns a trace of 100 ms, in which `bytes` are in use from 20 to 60 ms.
Trace trace(std::int64_t bytes = 4000000) {
  Trace trace = SpanChain().memory(20 * kMs, 1, bytes).memory(60 * kMs, 1, -bytes).build();
  trace.duration = 100 * kMs;
  return trace;
}

TEST(MemoryCurve, StaysUntilMemoryIsFreed) {
  const Picture picture = curveOf(trace());
  const Box curve = picture.boxOf(kCurve);
  int filled = 0;
  for (int x = curve.left; x < curve.right; ++x) {
    filled += picture.at(x, curve.centerY()) == kWhitePixel ? 0 : 1;
  }
  EXPECT_NEAR(filled, 0.4 * curve.width(), 5);
}

TEST(MemoryCurve, MarksTheStartOfThePeak) {
  const Picture picture = curveOf(trace());
  const Box curve = picture.boxOf(kCurve);
  const Box marker = picture.boxOf(kMarker);
  EXPECT_NEAR(marker.centerX(), curve.left + 0.2 * curve.width(), 3);
  EXPECT_NEAR(marker.centerY(), curve.top + 1, 3);
}

TEST(MemoryCurve, MarksTheStartsOfSteps) {
  Trace steps = trace();
  steps.steps = {{0, 0, 50 * kMs, 0}, {1, 50 * kMs, 50 * kMs, 0}};
  const Picture with = curveOf(steps);
  const Picture without = curveOf(trace());
  const Box curve = without.boxOf(kCurve);
  const int x = curve.left + curve.width() / 2;
  int dots = 0;
  for (int y = 0; y < curve.top - 4; ++y) {
    for (int column = x - 3; column <= x + 3; ++column) {
      dots += with.at(column, y) != without.at(column, y) ? 1 : 0;
    }
  }
  EXPECT_GT(dots, 2);
}

TEST(MemoryCurve, DrawsEachTypeOfDevice) {
  Trace both = trace();
  both.memory.push_back(both.memory.front());
  both.memory.back().time = 70 * kMs;
  both.memory.back().deviceType = 1;
  const int alone = curveOf(trace()).count({0xE6, 0x9F, 0x00});
  EXPECT_EQ(alone, 0);
  // The third color of the cycle: markers do not use one.
  EXPECT_GT(curveOf(both).count({0xD5, 0x5E, 0x00}), 50);
}

TEST(MemoryCurve, DrawsFewLinesForManySteps) {
  Trace many = trace();
  for (int i = 0; i < 1000; ++i) {
    many.steps.push_back({i, i * kMs / 10, kMs / 10, 0});
  }
  const Picture picture = curveOf(many);
  const Box curve = picture.boxOf(kCurve);
  int marked = 0;
  for (int x = curve.left + 5; x < curve.right; ++x) {
    bool isMarked = false;
    // Above the curve, there is nothing else.
    for (int y = curve.top - 14; y < curve.top - 6; ++y) {
      isMarked = isMarked || picture.at(x, y) != kWhitePixel;
    }
    marked += isMarked ? 1 : 0;
  }
  EXPECT_GE(marked, 30);
  EXPECT_LE(marked, 80);
}

TEST(MemoryCurve, OfNothingHasEmptyAxes) {
  const Picture picture = curveOf(Trace());
  EXPECT_EQ(picture.count(kCurve), 0);
  EXPECT_GT(picture.count(kWhitePixel), picture.width() * picture.height() / 2);
}

TEST(MemoryCurve, TakesManyEvents) {
  Trace many = trace();
  for (int i = 0; i < 100000; ++i) {
    TraceMemoryEvent event;
    event.time = 60 * kMs + i * 300;
    event.address = 2;
    event.bytes = i % 2 == 0 ? 1000000 : -1000000;
    many.memory.push_back(event);
  }
  const PngImage png = memoryCurve(many).render();
  EXPECT_LT(png.bytes.size(), 200000U);
  EXPECT_GT(Picture(png).count(kCurve), 1000);
}

}  // namespace
}  // namespace steptape
