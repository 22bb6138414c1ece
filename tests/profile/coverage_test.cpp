// SPDX-License-Identifier: Apache-2.0
#include "profile/recorder/coverage.h"

#include "profile/record_builder.h"

#include <gtest/gtest.h>

namespace steptape::detail::profile {
namespace {

void add(Coverage& coverage, const std::vector<SpanRecord>& records,
         std::uint64_t windowStart = 0) {
  coverage.add(ArrayView<const SpanRecord>(records.data(), records.size()), windowStart);
}

TEST(Coverage, CountsNestedSpansOnce) {
  Coverage coverage;
  add(coverage, {span("c", 1, 11, 13), span("c", 1, 14, 19), span("p", 0, 10, 20)});
  EXPECT_EQ(coverage.ticks(), 10U);
}

TEST(Coverage, CountsOverlappingThreadsOnce) {
  Coverage coverage;
  add(coverage, {span("a", 0, 10, 20), span("a", 0, 30, 40)});
  add(coverage, {span("b", 0, 15, 35)});
  EXPECT_EQ(coverage.ticks(), 30U);
}

TEST(Coverage, FillsEarlierGapsWithASpanThatEndsLater) {
  Coverage coverage;
  add(coverage, {span("c", 1, 11, 13), span("c", 1, 15, 17)});
  EXPECT_EQ(coverage.ticks(), 4U);
  add(coverage, {span("p", 0, 10, 20)});
  EXPECT_EQ(coverage.ticks(), 10U);
}

TEST(Coverage, LooksThroughSpansThatBeganBeforeTheWindow) {
  Coverage coverage;
  add(coverage, {span("before", 1, 5, 8), span("in", 1, 12, 14), span("across", 0, 1, 20)}, 10);
  EXPECT_EQ(coverage.ticks(), 2U);
}

TEST(Coverage, StaysExactWithBoundedMemoryOverManyGaps) {
  constexpr std::uint64_t kSpans = 300000;
  Coverage coverage;
  for (std::uint64_t i = 0; i < kSpans; ++i) {
    add(coverage, {span("a", 0, 10 * i, 10 * i + 3)});
  }
  EXPECT_EQ(coverage.ticks(), 3 * kSpans);
}

TEST(Coverage, CountsNoMomentTwiceAfterOldGapsBecameFinal) {
  constexpr std::uint64_t kSpans = 300000;
  Coverage coverage;
  for (std::uint64_t i = 0; i < kSpans; ++i) {
    add(coverage, {span("a", 0, 10 * i, 10 * i + 3)});
  }
  add(coverage, {span("all", 0, 0, 10 * kSpans)});
  EXPECT_GT(coverage.ticks(), 3 * kSpans);
  EXPECT_LE(coverage.ticks(), 10 * kSpans);
}

}  // namespace
}  // namespace steptape::detail::profile
