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

class ScalarRingTest : public ::testing::Test {
 protected:
  void push(std::int64_t step, std::uint64_t ticks) {
    ASSERT_TRUE(ring_->hasRoom());
    ring_->push(Slot::scalar(1, 0, step, ticks, Slot::kNoWallTime));
  }
  void fill() {
    while (ring_->hasRoom()) {
      push(next_, static_cast<std::uint64_t>(next_));
      ++next_;
    }
  }
  std::vector<std::int64_t> drain(std::uint64_t lastTicks = ~std::uint64_t{0}) {
    std::vector<Slot> slots;
    ring_->drain(lastTicks, &slots);
    std::vector<std::int64_t> steps;
    for (const Slot& slot : slots) {
      steps.push_back(slot.step());
    }
    return steps;
  }

  std::unique_ptr<ScalarRing> ring_ = std::make_unique<ScalarRing>();
  std::int64_t next_ = 0;
};

TEST_F(ScalarRingTest, KeepsWhatASlotHolds) {
  ring_->push(Slot::scalar(7, 0.5F, -3, 99, 42));
  std::vector<Slot> slots;
  ring_->drain(99, &slots);
  ASSERT_EQ(slots.size(), 1U);
  EXPECT_TRUE(slots[0].isScalar());
  EXPECT_EQ(slots[0].series, 7U);
  EXPECT_EQ(slots[0].value, 0.5F);
  EXPECT_EQ(slots[0].step(), -3);
  EXPECT_EQ(slots[0].ticks, 99U);
  EXPECT_EQ(slots[0].wallTime, 42U);
}

TEST_F(ScalarRingTest, GivesABatchBackAsScalarsThatShareTheirStamps) {
  for (std::size_t size = 1; size <= ScalarRing::kMaxBatch; ++size) {
    std::array<BatchedScalar, ScalarRing::kMaxBatch> batch{};
    for (std::size_t i = 0; i < size; ++i) {
      batch[i] = {static_cast<std::uint32_t>(i + 1), static_cast<float>(i)};
    }
    ring_->pushBatch(-7, 99, 42, batch.data(), size);
    push(1, 100);
    std::vector<Slot> slots;
    ring_->drain(99, &slots);
    ASSERT_EQ(slots.size(), size);
    for (std::size_t i = 0; i < size; ++i) {
      EXPECT_EQ(slots[i].series, i + 1);
      EXPECT_EQ(slots[i].value, static_cast<float>(i));
      EXPECT_EQ(slots[i].step(), -7);
      EXPECT_EQ(slots[i].ticks, 99U);
      EXPECT_EQ(slots[i].wallTime, 42U);
    }
    EXPECT_EQ(drain().size(), 1U);
  }
}

TEST_F(ScalarRingTest, KnowsHowMuchRoomABatchNeeds) {
  while (ring_->waiting() < ScalarRing::kSlots - 2) {
    push(0, 0);
  }
  EXPECT_TRUE(ring_->hasRoom(4));
  EXPECT_FALSE(ring_->hasRoom(5));
}

TEST_F(ScalarRingTest, DrainsUpToTheGivenTimeAndLeavesTheRest) {
  push(1, 10);
  push(2, 20);
  push(3, 30);
  EXPECT_EQ(drain(20), (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(ring_->waiting(), 1U);
  EXPECT_EQ(drain(), (std::vector<std::int64_t>{3}));
}

TEST_F(ScalarRingTest, IsFullAtItsCapacityAndHasRoomOnceDrained) {
  fill();
  EXPECT_EQ(ring_->waiting(), ScalarRing::kSlots);
  EXPECT_FALSE(ring_->hasRoom());
  EXPECT_EQ(drain().size(), ScalarRing::kSlots);
  EXPECT_TRUE(ring_->hasRoom());
}

TEST_F(ScalarRingTest, DiscardsTheOldestSlotsToMakeRoom) {
  fill();
  std::vector<Slot> discarded;
  ring_->discardOldest(3, &discarded);
  ASSERT_EQ(discarded.size(), 3U);
  EXPECT_EQ(discarded[0].step(), 0);
  EXPECT_EQ(discarded[2].step(), 2);
  EXPECT_TRUE(ring_->hasRoom());
  EXPECT_EQ(drain().front(), 3);
}

TEST_F(ScalarRingTest, DiscardsNoMoreThanThereIs) {
  push(1, 1);
  std::vector<Slot> discarded;
  ring_->discardOldest(100, &discarded);
  EXPECT_EQ(discarded.size(), 1U);
  EXPECT_TRUE(drain().empty());
}

TEST_F(ScalarRingTest, GivesEverySlotToEitherTheConsumerOrTheDiscardingProducerOnce) {
  constexpr std::int64_t kPushes = 400'000;
  std::vector<Slot> discarded;
  std::vector<Slot> drained;
  std::atomic<bool> ended{false};
  std::thread consumer([&] {
    while (!ended.load()) {
      ring_->drain(~std::uint64_t{0}, &drained);
    }
    ring_->drain(~std::uint64_t{0}, &drained);
  });
  for (std::int64_t step = 0; step < kPushes; ++step) {
    if (!ring_->hasRoom(4)) {
      ring_->discardOldest(ScalarRing::kSlots / 8, &discarded);
    }
    if (step % 3 == 0 && step + 4 <= kPushes) {
      const std::array<BatchedScalar, 4> batch{{{1, 0}, {2, 0}, {3, 0}, {4, 0}}};
      ring_->pushBatch(step, static_cast<std::uint64_t>(step), Slot::kNoWallTime, batch.data(), 4);
    } else {
      push(step, static_cast<std::uint64_t>(step));
    }
  }
  ended = true;
  consumer.join();

  std::vector<int> seen(kPushes, 0);
  for (const auto& slots : {discarded, drained}) {
    std::int64_t last = -1;
    for (const Slot& slot : slots) {
      EXPECT_GE(slot.step(), last);
      last = slot.step();
      ++seen[static_cast<std::size_t>(slot.step())];
    }
  }
  for (std::int64_t step = 0; step < kPushes; ++step) {
    ASSERT_EQ(seen[static_cast<std::size_t>(step)], step % 3 == 0 && step + 4 <= kPushes ? 4 : 1);
  }
}

}  // namespace
}  // namespace steptape
