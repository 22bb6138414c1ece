// SPDX-License-Identifier: Apache-2.0
#include "process/spans/span_ring.h"

#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape::detail::process {
namespace {

using ::testing::ElementsAre;

class SpanRingTest : public ::testing::Test {
 protected:
  void push(std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t i = first; i <= last; ++i) {
      ring_.push({i, i, 0, 1, 0, 0, SpanKind::kZone, 0, 0});
    }
  }
  std::uint64_t drain() {
    std::vector<SpanRecord> records;
    const std::uint64_t dropped = ring_.drainTo(records);
    drained_.clear();
    for (const SpanRecord& record : records) {
      drained_.push_back(record.startTicks);
    }
    return dropped;
  }

  SpanRing ring_{4};
  std::vector<std::uint64_t> drained_;
};

TEST_F(SpanRingTest, KeepsTheOrderAcrossItsEnd) {
  push(1, 3);
  drain();
  push(4, 7);
  EXPECT_EQ(drain(), 0U);
  EXPECT_THAT(drained_, ElementsAre(4, 5, 6, 7));
}

TEST_F(SpanRingTest, DropsTheNewestRecordsWhenFullAndReportsThemOnce) {
  push(1, 6);
  EXPECT_EQ(drain(), 2U);
  EXPECT_THAT(drained_, ElementsAre(1, 2, 3, 4));
  push(7, 7);
  EXPECT_EQ(drain(), 0U);
  EXPECT_THAT(drained_, ElementsAre(7));
}

TEST_F(SpanRingTest, ResetDiscardsRecordsAndDropCount) {
  push(1, 6);
  ring_.reset();
  EXPECT_EQ(drain(), 0U);
  EXPECT_TRUE(drained_.empty());
  push(7, 8);
  drain();
  EXPECT_THAT(drained_, ElementsAre(7, 8));
}

TEST(SpanRing, CountsEveryLossBetweenTwoThreads) {
  constexpr std::uint64_t kPushed = 200000;
  SpanRing ring(64);
  std::thread producer([&] {
    for (std::uint64_t i = 1; i <= kPushed; ++i) {
      ring.push({i, i, 0, 1, 0, 0, SpanKind::kZone, 0, 0});
    }
  });
  std::vector<SpanRecord> records;
  std::uint64_t received = 0;
  std::uint64_t dropped = 0;
  std::uint64_t last = 0;
  bool ascending = true;
  const auto take = [&] {
    dropped += ring.drainTo(records);
    for (const SpanRecord& record : records) {
      ascending = ascending && record.startTicks > last && record.endTicks == record.startTicks;
      last = record.startTicks;
    }
    received += records.size();
  };
  for (int i = 0; i < 1000; ++i) {
    take();
  }
  producer.join();
  take();
  EXPECT_TRUE(ascending);
  EXPECT_EQ(received + dropped, kPushed);
}

}  // namespace
}  // namespace steptape::detail::process
