// SPDX-License-Identifier: Apache-2.0
#include "profile/recorder/preorder.h"

#include <algorithm>
#include <random>

#include "profile/record_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape::detail::profile {
namespace {

using ::testing::ElementsAre;

std::vector<std::uint32_t> placesOf(const std::vector<SpanRecord>& records) {
  return preorder(ArrayView<const SpanRecord>(records.data(), records.size()));
}

TEST(Preorder, PutsParentsBeforeTheirChildren) {
  EXPECT_THAT(placesOf({span("a1", 1, 1, 2), span("a2", 1, 3, 4), span("a", 0, 0, 5),
                        span("b1", 1, 7, 8), span("b", 0, 6, 9)}),
              ElementsAre(1, 2, 0, 4, 3));
}

TEST(Preorder, AcceptsMissingParents) {
  EXPECT_THAT(placesOf({span("leaf", 3, 2, 3), span("inner", 1, 1, 4), span("other", 2, 5, 6)}),
              ElementsAre(1, 0, 2));
}

TEST(Preorder, ExcludesDetachedSpans) {
  EXPECT_THAT(placesOf({span("a", 1, 1, 2), span("async", 0, 0, 3, kDetached),
                        SpanRecord::memory(3, 64, 8, 0, 0), span("b", 0, 0, 4)}),
              ElementsAre(1, kNowhere, kNowhere, 0));
}

/// Adds the spans of a random tree as they end, and records their starts.
class RandomSpans {
 public:
  explicit RandomSpans(unsigned seed) : random_(seed) { addBelow(0); }
  std::vector<SpanRecord> records;

 private:
  void addBelow(std::uint8_t depth) {
    const unsigned children = depth > 5 ? 0 : static_cast<unsigned>(random_()) % 5;
    for (unsigned i = 0; i < children; ++i) {
      const std::uint64_t start = ++time_;
      addBelow(static_cast<std::uint8_t>(depth + 1));
      if (random_() % 8 != 0) {  // else it was dropped
        records.push_back(span("op", depth, start, ++time_));
      }
    }
  }
  std::minstd_rand random_;
  std::uint64_t time_ = 0;
};

TEST(Preorder, OrdersAnySpansByTheirStarts) {
  std::size_t spans = 0;
  for (unsigned seed = 0; seed < 500; ++seed) {
    const std::vector<SpanRecord> records = RandomSpans(seed).records;
    const std::vector<std::uint32_t> places = placesOf(records);
    std::vector<std::uint64_t> starts(records.size());
    for (std::size_t i = 0; i < records.size(); ++i) {
      ASSERT_LT(places[i], records.size());
      starts[places[i]] = records[i].startTicks;
    }
    EXPECT_TRUE(std::is_sorted(starts.begin(), starts.end())) << "seed " << seed;
    spans += records.size();
  }
  EXPECT_GT(spans, 10000U);
}

}  // namespace
}  // namespace steptape::detail::profile
