// SPDX-License-Identifier: Apache-2.0
#include "log/writer/scalar_ring.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace steptape {
namespace {

using detail::log::BatchedScalar;
using detail::log::CapturedValue;
using detail::log::RingEntry;
using detail::log::ScalarRing;

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
  EXPECT_FALSE(ring_->hasRoom()) << "what was taken is not yet safe";
  ring_->secure();
  EXPECT_TRUE(ring_->hasRoom());
}

TEST_F(ScalarRingTest, GivesUpPlacesThatAreNotYetSafeBeforeItDiscardsEntries) {
  fill();
  std::vector<RingEntry> taken;
  ring_->drain(kAnyTime, 10, &taken);
  std::vector<RingEntry> discarded;
  ring_->discardOldest(10 * ScalarRing::kEntryWords, &discarded);
  EXPECT_TRUE(discarded.empty());
  EXPECT_TRUE(ring_->hasRoom(10 * ScalarRing::kEntryWords));
  ring_->discardOldest(2 * ScalarRing::kEntryWords, &discarded);
  ASSERT_EQ(discarded.size(), 2U);
  EXPECT_EQ(discarded.front().step(), 10);
  EXPECT_EQ(drain().front(), 12);
}

TEST_F(ScalarRingTest, GivesTheRoomOfDiscardedEntriesOnceHoweverOftenAndLateTheConsumerComes) {
  std::vector<RingEntry> taken;
  std::vector<RingEntry> discarded;
  for (int round = 0; round < 50; ++round) {
    fill();
    ring_->discardOldest(300, &discarded);
    EXPECT_EQ(ScalarRing::kWords - ring_->waiting(), 300 + ScalarRing::kWords % 3);
    fill();
    ring_->drain(kAnyTime, round % 3 == 0 ? 1 : 1000, &taken);
    if (round % 2 == 0) {
      ring_->secure();
    }
    if (round % 5 == 0) {
      ring_->drain(kAnyTime, kAnyNumber, &taken);
      ring_->secure();
    }
  }
  ring_->drain(kAnyTime, kAnyNumber, &taken);
  std::vector<std::int64_t> steps;
  for (const auto& entries : {taken, discarded}) {
    for (const RingEntry& entry : entries) {
      steps.push_back(entry.step());
    }
  }
  std::sort(steps.begin(), steps.end());
  for (std::int64_t step = 0; step < next_; ++step) {
    ASSERT_EQ(steps[static_cast<std::size_t>(step)], step);
  }
  EXPECT_EQ(steps.size(), static_cast<std::size_t>(next_));
}

class RingImageTest : public ScalarRingTest {
 protected:
  /// Reads the ring as a process does that finds it.
  std::vector<std::int64_t> stepsFrom(std::uint64_t begin) {
    std::vector<RingEntry> entries;
    std::uint64_t end = 0;
    EXPECT_TRUE(ScalarRing::Image::read(bytes(), begin, &entries, &end));
    end_ = end;
    std::vector<std::int64_t> steps;
    for (const RingEntry& entry : entries) {
      steps.push_back(entry.step());
    }
    return steps;
  }
  const char* bytes() const { return reinterpret_cast<const char*>(ring_.get()); }

  std::uint64_t end_ = 0;
};

TEST_F(RingImageTest, HoldsWhatWasPublishedFromTheGivenIndexOn) {
  push(1, 10);
  push(2, 20);
  const BatchedScalar batch[] = {{1, 0.5F}, {2, 1.5F}};
  ring_->pushBatch(3, 30, 77, batch, 2);
  EXPECT_EQ(stepsFrom(0), (std::vector<std::int64_t>{1, 2, 3, 3}));
  EXPECT_EQ(stepsFrom(3), (std::vector<std::int64_t>{2, 3, 3}));
  EXPECT_EQ(stepsFrom(end_), std::vector<std::int64_t>{});
}

TEST_F(RingImageTest, HoldsWhatWasTakenAndIsNotSafe) {
  push(1, 10);
  push(2, 20);
  drain();
  EXPECT_EQ(stepsFrom(0), (std::vector<std::int64_t>{1, 2}));
  ring_->secure();
  EXPECT_EQ(stepsFrom(0), std::vector<std::int64_t>{});
}

TEST_F(RingImageTest, OmitsDiscardedEntriesWhoseWordsMayBeOverwritten) {
  fill();
  std::vector<RingEntry> discarded;
  ring_->discardOldest(300, &discarded);
  fill();
  const std::vector<std::int64_t> steps = stepsFrom(0);
  EXPECT_EQ(steps.front(), 100);
  EXPECT_EQ(steps.back(), next_ - 1);
}

TEST_F(RingImageTest, IsRefusedIfItCannotBeRight) {
  push(1, 10);
  const BatchedScalar batch[] = {{1, 0.5F}};
  ring_->pushBatch(2, 20, 77, batch, 1);
  std::vector<RingEntry> entries;
  std::uint64_t end = 0;
  EXPECT_FALSE(ScalarRing::Image::read(bytes(), 9, &entries, &end)) << "behind the end";
  std::string damaged(bytes(), ScalarRing::Image::kBytes);
  const auto setWord = [&](std::size_t word, std::uint64_t value) {
    std::memcpy(damaged.data() + 8 * word, &value, 8);
    return ScalarRing::Image::read(damaged.data(), 0, &entries, &end);
  };
  EXPECT_TRUE(setWord(0, 8));
  EXPECT_FALSE(setWord(0, 7)) << "the end inside an entry";
  EXPECT_FALSE(setWord(0, ScalarRing::kWords + 1)) << "more than fits";
  entries.clear();
  damaged.assign(bytes(), ScalarRing::Image::kBytes);
  EXPECT_FALSE(setWord(16 + 3, 0xffffffffU | std::uint64_t{65} << 32)) << "a batch of 65";
  EXPECT_FALSE(setWord(16 + 3, 0xffffffffU)) << "a batch of none";
  EXPECT_TRUE(entries.empty());
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
      ring_->secure();
    }
    ring_->drain(kAnyTime, kAnyNumber, &drained);
  });
  for (std::int64_t step = 0; step < kPushes; ++step) {
    while (!ring_->hasRoom(ScalarRing::batchWords(kBatch))) {
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
