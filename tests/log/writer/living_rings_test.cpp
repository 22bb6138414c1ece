// SPDX-License-Identifier: Apache-2.0
//
// Copies of a ring in a file, which a thread fills and empties meanwhile.
#include "log/writer/living_rings.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <fcntl.h>
#include <fstream>
#include <memory>
#include <new>
#include <string>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "steptape/ranks/testing.h"

#include "log/writer/kill_proof_log.h"
#include "log/writer/scalar_ring.h"
#include "process/blackbox/box_folder.h"
#include "process/blackbox/box_header.h"

#include <gtest/gtest.h>

namespace steptape::detail::log {
namespace {

constexpr std::size_t kHeader = process::BoxHeader::kBytes;

class LivingRingsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string path = box_.pathOf("rings");
    std::ofstream(path, std::ios::binary)
        << process::encodeBoxHeader(process::headerOfThisProcess(), "rings")
        << std::string(kRingSlotBytes, '\0');
    const base::FileDescriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC));
    void* const memory = ::mmap(nullptr, kHeader + kRingSlotBytes, PROT_READ | PROT_WRITE,
                                MAP_SHARED, file.number(), 0);
    ASSERT_NE(memory, MAP_FAILED);
    memory_ = static_cast<char*>(memory);
    ring_ = new (memory_ + kHeader) ScalarRing;
    ASSERT_TRUE(rings_.open(box_));
  }
  void TearDown() override { ::munmap(memory_, kHeader + kRingSlotBytes); }

  void push(int count) {
    for (int i = 0; i < count && ring_->hasRoom(); ++i, ++next_) {
      ring_->pushScalar(1, 0.5F, next_, static_cast<std::uint64_t>(next_));
    }
  }
  void takeAll() {
    taken_.clear();
    ring_->drain(~std::uint64_t{0}, ~std::size_t{0}, &taken_);
  }

  /// Returns the steps of a copy.
  std::vector<std::int64_t> copied() {
    std::vector<RingEntry> entries;
    std::uint64_t end = 0;
    EXPECT_TRUE(ScalarRing::Image::read(image_.bytes().data() + kHeader, 0, &entries, &end));
    std::vector<std::int64_t> steps;
    for (const RingEntry& entry : entries) {
      steps.push_back(entry.step());
    }
    return steps;
  }
  bool copies(bool isAlive = true) { return rings_.copy(isAlive, &heads_, &image_); }

  testing::TempDir folder_;
  const process::BoxName box_{folder_.string(), ::getuid(), 1};
  char* memory_ = nullptr;
  ScalarRing* ring_ = nullptr;
  std::int64_t next_ = 0;
  std::vector<RingEntry> taken_;
  LivingRings rings_;
  LivingRings::Heads heads_;
  RingImage image_;
};

TEST_F(LivingRingsTest, HaveTheEntriesThatAreNotSafe) {
  push(2);
  takeAll();
  ring_->secure();
  push(2);
  takeAll();
  push(1);
  ASSERT_TRUE(rings_.readHeads(&heads_));
  ASSERT_TRUE(copies());
  EXPECT_EQ(copied(), (std::vector<std::int64_t>{2, 3, 4}));
}

TEST_F(LivingRingsTest, AreRefusedIfEntriesBecameSafeAfterTheLogWasRead) {
  push(2);
  takeAll();
  ASSERT_TRUE(rings_.readHeads(&heads_));
  ring_->secure();
  EXPECT_FALSE(copies());
}

TEST_F(LivingRingsTest, AreRefusedIfALivingProcessMayHaveWhatTheyDiscarded) {
  while (ring_->hasRoom()) {
    push(1);
  }
  std::vector<RingEntry> discarded;
  ring_->discardOldest(300, &discarded);
  ASSERT_TRUE(rings_.readHeads(&heads_));
  EXPECT_FALSE(copies());
  ASSERT_TRUE(copies(false));
  EXPECT_EQ(copied().front(), 100);
}

TEST_F(LivingRingsTest, KeepEntriesUntilTheirPlacesAreUsedAgain) {
  const auto head = [this] { return ScalarRing::Image::headOf(memory_ + kHeader); };
  push(100);
  const ScalarRing::Image::Head copied = head();
  takeAll();
  ring_->secure();
  EXPECT_TRUE(LivingRings::keepsEntries(copied, head()));
  const auto keeps = [&](std::uint64_t tail, std::uint64_t discardedTo, std::uint64_t safe) {
    return LivingRings::keepsEntries(copied, {tail, discardedTo, safe});
  };
  constexpr std::uint64_t kLongest = ScalarRing::batchWords(ScalarRing::kMaxBatch);
  EXPECT_TRUE(keeps(ScalarRing::kWords, 0, 0)) << "the ring is full, and overwrites nothing";
  EXPECT_TRUE(keeps(ScalarRing::kWords - kLongest, 0, 300));
  EXPECT_FALSE(keeps(ScalarRing::kWords - kLongest + 1, 0, 300))
      << "the next entry may be stored over the first one";
  EXPECT_FALSE(keeps(300, 300, 0)) << "discarded";
}

TEST_F(LivingRingsTest, AreNeverCopiedWithOverwrittenEntries) {
  std::atomic<bool> isOver{false};
  std::thread process([&] {
    while (!isOver) {
      push(10'000);
      takeAll();
      ring_->secure();
    }
  });
  int copiesMade = 0;
  for (int i = 0; i < 2'000; ++i) {
    if (!rings_.readHeads(&heads_) || !copies()) {
      continue;
    }
    ++copiesMade;
    const std::vector<std::int64_t> steps = copied();
    for (std::size_t at = 1; at < steps.size() && !HasFailure(); ++at) {
      EXPECT_EQ(steps[at], steps[at - 1] + 1);
    }
    if (HasFailure()) {
      break;
    }
  }
  isOver = true;
  process.join();
  EXPECT_GT(copiesMade, 0);
}

}  // namespace
}  // namespace steptape::detail::log
