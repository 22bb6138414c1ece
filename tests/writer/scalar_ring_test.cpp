// SPDX-License-Identifier: Apache-2.0
#include "writer/scalar_ring.h"

#include <array>
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace steptape {
namespace {

using detail::BatchedScalar;
using detail::CapturedValue;
using detail::RingEntry;
using detail::ScalarRing;

constexpr std::uint64_t kAnyTime = ~std::uint64_t{0};
constexpr std::size_t kAnyNumber = ~std::size_t{0};
constexpr std::uint64_t kCapacity = ScalarRing::kWords / ScalarRing::kEntryWords;

class ScalarRingTest : public ::testing::Test {
 protected:
  void push(std::int64_t step, std::uint64_t ticks) {
    ASSERT_TRUE(ring_->hasRoom());
    ring_->pushScalar(1, 0, step, ticks);
  }
  void fill() {
    while (ring_->hasRoom()) {
      push(next_, static_cast<std::uint64_t>(next_));
      ++next_;
    }
  }
  std::vector<std::int64_t> drain(std::uint64_t lastTicks = kAnyTime) {
    std::vector<RingEntry> entries;
    ring_->drain(lastTicks, kAnyNumber, &entries);
    std::vector<std::int64_t> steps;
    for (const RingEntry& entry : entries) {
      steps.push_back(entry.step());
    }
    return steps;
  }

  std::unique_ptr<ScalarRing> ring_ = std::make_unique<ScalarRing>();
  std::int64_t next_ = 0;
};

TEST_F(ScalarRingTest, KeepsWhatAScalarHolds) {
  ring_->pushScalar(7, 0.5F, -3, 99);
  std::vector<RingEntry> entries;
  EXPECT_TRUE(ring_->drain(99, kAnyNumber, &entries));
  ASSERT_EQ(entries.size(), 1U);
  EXPECT_TRUE(entries[0].isScalar());
  EXPECT_EQ(entries[0].series, 7U);
  EXPECT_EQ(entries[0].value, 0.5F);
  EXPECT_EQ(entries[0].step(), -3);
  EXPECT_EQ(entries[0].ticks, 99U);
  EXPECT_EQ(entries[0].wallTime, RingEntry::kNoWallTime);
}

TEST_F(ScalarRingTest, KeepsTheAddressOfACapturedValue) {
  auto* const address = reinterpret_cast<CapturedValue*>(std::uintptr_t{0x1234});
  ring_->pushCaptured(address, 5);
  std::vector<RingEntry> entries;
  ring_->drain(5, kAnyNumber, &entries);
  ASSERT_EQ(entries.size(), 1U);
  EXPECT_FALSE(entries[0].isScalar());
  EXPECT_EQ(entries[0].capturedValue(), address);
}

TEST_F(ScalarRingTest, GivesABatchBackAsScalarsThatShareTheirStamps) {
  for (std::size_t size = 1; size <= ScalarRing::kMaxBatch; ++size) {
    std::array<BatchedScalar, ScalarRing::kMaxBatch> batch{};
    for (std::size_t i = 0; i < size; ++i) {
      batch[i] = {static_cast<std::uint32_t>(i + 1), static_cast<float>(i)};
    }
    ring_->pushBatch(-7, 99, 42, batch.data(), size);
    push(1, 100);
    std::vector<RingEntry> entries;
    ring_->drain(99, kAnyNumber, &entries);
    ASSERT_EQ(entries.size(), size);
    for (std::size_t i = 0; i < size; ++i) {
      EXPECT_EQ(entries[i].series, i + 1);
      EXPECT_EQ(entries[i].value, static_cast<float>(i));
      EXPECT_EQ(entries[i].step(), -7);
      EXPECT_EQ(entries[i].ticks, 99U);
      EXPECT_EQ(entries[i].wallTime, 42U);
    }
    EXPECT_EQ(drain().size(), 1U);
  }
}

TEST_F(ScalarRingTest, DrainsUpToTheGivenTimeAndLeavesTheRest) {
  push(1, 10);
  push(2, 20);
  push(3, 30);
  EXPECT_EQ(drain(20), (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(ring_->waiting(), ScalarRing::kEntryWords);
  EXPECT_EQ(drain(), (std::vector<std::int64_t>{3}));
}

TEST_F(ScalarRingTest, DrainsInPieces) {
  for (std::int64_t step = 0; step < 5; ++step) {
    push(step, 0);
  }
  std::vector<RingEntry> entries;
  EXPECT_FALSE(ring_->drain(kAnyTime, 2, &entries));
  EXPECT_EQ(entries.size(), 2U);
  entries.clear();
  EXPECT_TRUE(ring_->drain(kAnyTime, 3, &entries));
  EXPECT_EQ(entries.size(), 3U);
  EXPECT_EQ(entries.back().step(), 4);
}

TEST_F(ScalarRingTest, IsFullAtItsCapacityAndHasRoomOnceDrained) {
  fill();
  EXPECT_EQ(ring_->waiting(), kCapacity * ScalarRing::kEntryWords);
  EXPECT_FALSE(ring_->hasRoom());
  EXPECT_EQ(drain().size(), kCapacity);
  EXPECT_TRUE(ring_->hasRoom());
}

TEST_F(ScalarRingTest, ComputesTheRoomOfABatch) {
  fill();
  std::vector<RingEntry> discarded;
  ring_->discardOldest(3 * ScalarRing::kEntryWords, &discarded);
  const std::uint64_t room = ScalarRing::kWords - ring_->waiting();
  ASSERT_GE(room, 9U);
  EXPECT_TRUE(ring_->hasRoom(ScalarRing::batchWords(room - 4)));
  EXPECT_FALSE(ring_->hasRoom(ScalarRing::batchWords(room - 3)));
}

TEST_F(ScalarRingTest, DiscardsTheOldestEntriesToMakeRoom) {
  fill();
  std::vector<RingEntry> discarded;
  ring_->discardOldest(3 * ScalarRing::kEntryWords, &discarded);
  ASSERT_EQ(discarded.size(), 3U);
  EXPECT_EQ(discarded[0].step(), 0);
  EXPECT_EQ(discarded[2].step(), 2);
  EXPECT_TRUE(ring_->hasRoom());
  EXPECT_EQ(drain().front(), 3);
}

TEST_F(ScalarRingTest, DiscardsNoMoreThanThereIs) {
  push(1, 1);
  std::vector<RingEntry> discarded;
  ring_->discardOldest(100, &discarded);
  EXPECT_EQ(discarded.size(), 1U);
  EXPECT_TRUE(drain().empty());
}

TEST_F(ScalarRingTest, GivesEveryEntryToEitherTheConsumerOrTheDiscardingProducerOnce) {
  constexpr std::int64_t kPushes = 400'000;
  constexpr std::size_t kBatch = 4;
  const auto isBatch = [](std::int64_t step) { return step % 3 == 0; };
  std::vector<RingEntry> discarded;
  std::vector<RingEntry> drained;
  std::atomic<bool> ended{false};
  std::thread consumer([&] {
    while (!ended.load()) {
      ring_->drain(kAnyTime, kAnyNumber, &drained);
    }
    ring_->drain(kAnyTime, kAnyNumber, &drained);
  });
  for (std::int64_t step = 0; step < kPushes; ++step) {
    if (!ring_->hasRoom(ScalarRing::batchWords(kBatch))) {
      ring_->discardOldest(ScalarRing::kWords / 8, &discarded);
    }
    const auto ticks = static_cast<std::uint64_t>(step);
    if (isBatch(step)) {
      const std::array<BatchedScalar, kBatch> batch{{{1, 0}, {2, 0}, {3, 0}, {4, 0}}};
      ring_->pushBatch(step, ticks, RingEntry::kNoWallTime, batch.data(), kBatch);
    } else {
      push(step, ticks);
    }
  }
  ended = true;
  consumer.join();

  std::vector<std::size_t> seen(kPushes, 0);
  for (const auto& entries : {discarded, drained}) {
    std::int64_t last = -1;
    for (const RingEntry& entry : entries) {
      EXPECT_GE(entry.step(), last);
      last = entry.step();
      ++seen[static_cast<std::size_t>(entry.step())];
    }
  }
  for (std::int64_t step = 0; step < kPushes; ++step) {
    ASSERT_EQ(seen[static_cast<std::size_t>(step)], isBatch(step) ? kBatch : 1);
  }
}

}  // namespace
}  // namespace steptape
