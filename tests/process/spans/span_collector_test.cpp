// SPDX-License-Identifier: Apache-2.0
#include "process/spans/span_collector.h"

#include <atomic>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "steptape/base/status.h"
#include "steptape/process/zone.h"

#include "process/spans/thread_recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape {
namespace {

using ::testing::ElementsAre;
using ::testing::ThrowsMessage;

class CollectorTest : public ::testing::Test {
 protected:
  CollectorTest() { collector_.startRecording(); }

  /// Drains all threads into records_, names_ and dropped_.
  void drain() {
    collector_.drain([&](const detail::process::SpanBatch& batch) {
      dropped_ += batch.dropped;
      for (const SpanRecord& record : batch.records) {
        records_.push_back(record);
        names_.push_back(spanName(record.nameId));
        threadIds_.insert(batch.threadId);
      }
    });
  }

  detail::process::SpanCollector collector_{kCapacity};
  std::vector<SpanRecord> records_;
  std::vector<std::string> names_;
  std::set<std::uint64_t> threadIds_;
  std::uint64_t dropped_ = 0;
  static constexpr std::size_t kCapacity = 1024;
};

void recordZone() {
  STEPTAPE_ZONE("zone");
}

void recurse(int depth) {
  STEPTAPE_ZONE("recurse");
  if (depth > 1) {
    recurse(depth - 1);
  }
}

TEST_F(CollectorTest, RecordsNestedZonesChildrenFirst) {
  {
    STEPTAPE_ZONE("outer");
    { STEPTAPE_ZONE("first"); }
    { STEPTAPE_ZONE("second"); }
  }
  drain();
  ASSERT_THAT(names_, ElementsAre("first", "second", "outer"));
  EXPECT_EQ(records_[0].depth, 1);
  EXPECT_EQ(records_[1].depth, 1);
  EXPECT_EQ(records_[2].depth, 0);
  EXPECT_LE(records_[2].startTicks, records_[0].startTicks);
  EXPECT_LE(records_[0].startTicks, records_[0].endTicks);
  EXPECT_LE(records_[0].endTicks, records_[1].startTicks);
  EXPECT_LE(records_[1].endTicks, records_[2].endTicks);
  EXPECT_EQ(records_[0].kind, SpanKind::kZone);
}

TEST_F(CollectorTest, GivesZonesOfEqualTextOneName) {
  recordZone();
  { STEPTAPE_ZONE("zone"); }
  drain();
  ASSERT_EQ(records_.size(), 2U);
  EXPECT_EQ(records_[0].nameId, records_[1].nameId);
}

TEST_F(CollectorTest, MarksZonesInsideOneOfTheirName) {
  recurse(3);
  drain();
  ASSERT_EQ(records_.size(), 3U);
  EXPECT_EQ(records_[0].flags, kNestedInItself);
  EXPECT_EQ(records_[1].flags, kNestedInItself);
  EXPECT_EQ(records_[2].flags, 0);
}

TEST_F(CollectorTest, DoesNotMistakeOtherNamesForRecursion) {
  // More names than there are bits in a word, all open at once.
  std::vector<int> owners(100);
  for (std::size_t i = 0; i < owners.size(); ++i) {
    const std::string name = "op " + std::to_string(i);
    detail::process::beginSpan(SpanKind::kOperator, name.c_str(), 0, SpanRecord::kNoPayload,
                               &owners[i]);
  }
  for (std::size_t i = owners.size(); i-- > 0;) {
    detail::process::endSpan(&owners[i]);
  }
  drain();
  ASSERT_EQ(records_.size(), owners.size());
  for (const SpanRecord& record : records_) {
    EXPECT_EQ(record.flags, 0) << spanName(record.nameId);
  }
}

TEST_F(CollectorTest, EndsZonesThatAnExceptionLeaves) {
  try {
    STEPTAPE_ZONE("left");
    throw std::runtime_error("leaves");
  } catch (const std::runtime_error&) {
    STEPTAPE_ZONE("handler");
  }
  drain();
  ASSERT_THAT(names_, ElementsAre("left", "handler"));
  EXPECT_EQ(records_[1].depth, 0);
}

TEST_F(CollectorTest, RecordsEveryThreadAlsoAfterItsEnd) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([] {
      recordZone();
      recordZone();
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  recordZone();
  drain();
  EXPECT_EQ(records_.size(), 7U);
  drain();
  EXPECT_EQ(records_.size(), 7U) << "a second drain brings nothing again";
}

TEST_F(CollectorTest, DistinguishesThreads) {
  recordZone();
  std::thread([] { recordZone(); }).join();
  drain();
  EXPECT_EQ(threadIds_.size(), 2U);
}

TEST_F(CollectorTest, CountsWhatAFullRingDrops) {
  for (std::size_t i = 0; i < kCapacity + 5; ++i) {
    recordZone();
  }
  drain();
  EXPECT_EQ(records_.size(), kCapacity);
  EXPECT_EQ(dropped_, 5U);
  recordZone();
  drain();
  EXPECT_EQ(records_.size(), kCapacity + 1) << "there is room again";
  EXPECT_EQ(dropped_, 5U);
}

TEST_F(CollectorTest, CountsZonesThatNestTooDeep) {
  recurse(300);
  drain();
  EXPECT_EQ(records_.size(), 256U);
  EXPECT_EQ(dropped_, 44U);
}

TEST_F(CollectorTest, RecordsNothingWhileRecordingIsOff) {
  collector_.stopRecording();
  recordZone();
  collector_.startRecording();
  drain();
  EXPECT_TRUE(records_.empty());
}

TEST_F(CollectorTest, LeavesOutAZoneThatEndsAfterRecordingStopped) {
  {
    STEPTAPE_ZONE("outer");
    collector_.stopRecording();
  }
  collector_.startRecording();
  recordZone();
  drain();
  ASSERT_THAT(names_, ElementsAre("zone"));
  EXPECT_EQ(records_[0].depth, 0);
}

TEST_F(CollectorTest, CountsEveryLossWhileThreadsRecordAndDrain) {
  constexpr int kThreads = 3;
  constexpr std::size_t kZones = 20000;
  std::atomic<int> running{kThreads};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (std::size_t n = 0; n < kZones; ++n) {
        recordZone();
      }
      --running;
    });
  }
  while (running > 0) {
    drain();
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  drain();
  EXPECT_EQ(records_.size() + dropped_, kThreads * kZones);
}

TEST_F(CollectorTest, DiscardsInnerSpansWhenTheOuterSpanEndsFirst) {
  const int outer = 0;
  const int inner = 0;
  detail::process::beginSpan(SpanKind::kOperator, "outer", 0, SpanRecord::kNoPayload, &outer);
  detail::process::beginSpan(SpanKind::kOperator, "inner", 0, SpanRecord::kNoPayload, &inner);
  detail::process::endSpan(&outer);
  detail::process::endSpan(&inner);
  drain();
  EXPECT_THAT(names_, ElementsAre("outer"));
  EXPECT_EQ(dropped_, 1U);
}

TEST_F(CollectorTest, IgnoresAnEndWithoutABegin) {
  const int stranger = 0;
  {
    STEPTAPE_ZONE("zone");
    detail::process::endSpan(&stranger);
  }
  drain();
  EXPECT_THAT(names_, ElementsAre("zone"));
  EXPECT_EQ(dropped_, 0U);
}

TEST_F(CollectorTest, ComparesNamesThatReuseAnAddress) {
  std::string name = "first";
  const int owner = 0;
  detail::process::beginSpan(SpanKind::kOperator, name.c_str(), 0, SpanRecord::payloadOf(7, 0),
                             &owner);
  detail::process::endSpan(&owner);
  name = "other";
  detail::process::beginSpan(SpanKind::kOperator, name.c_str(), 0, SpanRecord::payloadOf(8, 0),
                             &owner);
  detail::process::endSpan(&owner);
  drain();
  ASSERT_THAT(names_, ElementsAre("first", "other"));
  EXPECT_EQ(records_[0].sequence(), 7);
  EXPECT_EQ(records_[1].sequence(), 8);
}

TEST_F(CollectorTest, EndsADetachedSpanOnAnotherThread) {
  const SpanRecord begun =
      detail::process::beginDetached(SpanKind::kOperator, "all_reduce", SpanRecord::kNoPayload);
  std::thread([&] { detail::process::endDetached(begun); }).join();
  drain();
  ASSERT_THAT(names_, ElementsAre("all_reduce"));
  EXPECT_EQ(records_[0].flags, kDetached);
  EXPECT_EQ(records_[0].startTicks, begun.startTicks);
}

TEST(SpanCollector, CanExcludeZones) {
  detail::process::SpanCollector collector(64, /*zones=*/false);
  collector.startRecording();
  recordZone();
  int batches = 0;
  collector.drain([&](const detail::process::SpanBatch&) { ++batches; });
  EXPECT_EQ(batches, 0);
}

TEST(SpanCollector, StartsEmptyAfterAnotherOneThatWasNotDrained) {
  {
    detail::process::SpanCollector first(64);
    first.startRecording();
    recordZone();
  }
  recordZone();
  detail::process::SpanCollector second(64);
  second.startRecording();
  recordZone();
  std::size_t records = 0;
  second.drain([&](const detail::process::SpanBatch& batch) { records += batch.records.size(); });
  EXPECT_EQ(records, 1U);
}

TEST(SpanCollector, RefusesASecondOne) {
  const detail::process::SpanCollector first;
  EXPECT_THAT([] { const detail::process::SpanCollector second; },
              ThrowsMessage<Error>("cannot start a profiler while another one runs in this "
                                   "process; stop() it first"));
}

TEST(SpanCollector, RejectsARingCapacityOfZero) {
  EXPECT_THAT(
      [] { const detail::process::SpanCollector collector(0); },
      ThrowsMessage<Error>("ProfilerOptions::recordsPerThread: got 0; expected 1 to 67108864"));
}

}  // namespace
}  // namespace steptape
