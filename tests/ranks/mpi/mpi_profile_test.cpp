// SPDX-License-Identifier: Apache-2.0
// The spans of ranks that are processes.

#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "steptape/base/clock.h"
#include "steptape/ranks/mpi_communicator.h"

#include "ranks/communicator/clock_offset.h"
#include "ranks/communicator/span_recording.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape {
namespace {

using test::namesOf;
using test::SeenSpan;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Spans = std::vector<SeenSpan>;

/// Returns the spans that this thread has recorded.
Spans spansOf(test::SpanRecording& recording) {
  return recording.take()["this rank"];
}

class MpiProfile : public ::testing::Test {
 protected:
  MpiProfile() { setThreadName("this rank"); }

  double secondsOf(const SeenSpan& span) const {
    return converter_.nanosBetween(span.startTicks, span.endTicks) * 1e-9;
  }
  void sleepOnLastRank() const {
    if (isLastRank()) {
      std::this_thread::sleep_for(std::chrono::duration<double>(kSleepSeconds));
    }
  }
  std::uint64_t ofLastRank(std::uint64_t ticks) {
    world_.broadcast(&ticks, sizeof ticks, world_.size() - 1);
    return ticks;
  }
  bool isLastRank() const { return world_.rank() == world_.size() - 1; }

  static constexpr double kSleepSeconds = 0.2;
  MpiCommunicator world_{MPI_COMM_WORLD};

 private:
  TickConverter converter_;
};

TEST_F(MpiProfile, FindsThatTheRanksOfANodeShareAClock) {
  for (int attempt = 0; attempt < 20; ++attempt) {
    const detail::ranks::ClockOffset offset = detail::ranks::estimateClockOffset(world_);
    EXPECT_EQ(offset.nanos, 0);
    EXPECT_LE(offset.nanos - offset.bound, 0);
    EXPECT_GE(offset.nanos + offset.bound, 0);
    EXPECT_TRUE(offset.isSteady);
  }
}

TEST_F(MpiProfile, ShowsTheWaitForASlowRankOnTheOthersAndNotOnItself) {
  std::vector<float> data(100'000, 1.0F);
  world_.barrier();
  test::SpanRecording recording;
  sleepOnLastRank();
  const std::uint64_t came = readTicks();
  world_.allreduce(data, ReduceOp::kSum);
  const Spans spans = spansOf(recording);
  if (world_.size() == 1) {
    EXPECT_THAT(namesOf(spans), ElementsAre("gloo:all_reduce"));
    return;
  }
  ASSERT_THAT(namesOf(spans), ElementsAre("wait for ranks", "gloo:all_reduce"));
  const SeenSpan& wait = spans[0];
  EXPECT_TRUE(spans[1].encloses(wait));
  // The cores of a node share the counter.
  EXPECT_GE(wait.endTicks, ofLastRank(came));
  EXPECT_EQ(secondsOf(wait) > kSleepSeconds / 2, !isLastRank());
}

TEST_F(MpiProfile, ShowsTheWaitInTheCallThatBlocksForAnAsynchronousOperation) {
  std::vector<float> data(100'000, 1.0F);
  world_.barrier();
  test::SpanRecording recording;
  sleepOnLastRank();
  CollectiveHandle handle = world_.allreduceAsync(data, ReduceOp::kSum);
  handle.wait();
  const Spans spans = spansOf(recording);
  const SeenSpan& operation = spans.back();
  EXPECT_EQ(operation.name, "gloo:all_reduce");
  EXPECT_TRUE(operation.isDetached);
  EXPECT_EQ(operation.details.bytes, 400'000);
  if (world_.size() > 1) {
    ASSERT_THAT(namesOf(spans),
                ElementsAre("wait for ranks", "wait for gloo:all_reduce", "gloo:all_reduce"));
    EXPECT_EQ(secondsOf(spans[0]) > kSleepSeconds / 2, !isLastRank());
    EXPECT_TRUE(operation.encloses(spans[1]));
  }
}

TEST_F(MpiProfile, ShowsNothingButTheWaitInWhatTravelsWithTheComparison) {
  test::SpanRecording recording;
  world_.barrier();
  std::vector<double> few(3);
  world_.allreduce(few, ReduceOp::kSum);
  const Spans spans = spansOf(recording);
  if (world_.size() > 1) {
    EXPECT_THAT(namesOf(spans),
                ElementsAre("wait for ranks", "gloo:barrier", "wait for ranks", "gloo:all_reduce"));
  } else {
    EXPECT_THAT(namesOf(spans), ElementsAre("gloo:barrier", "gloo:all_reduce"));
  }
}

TEST_F(MpiProfile, ListsTheRanksOfAGroupByTheirJobRank) {
  MPI_Comm backwards = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -world_.rank(), &backwards);
  std::string members;
  for (int rank = world_.size() - 1; rank >= 0; --rank) {
    members += (members.empty() ? "" : ", ") + std::to_string(rank);
  }
  {
    MpiCommunicator group(backwards);
    const auto same = group.duplicate();
    test::SpanRecording recording;
    group.barrier();
    same->barrier();
    int seen = 0;
    for (const SeenSpan& span : spansOf(recording)) {
      if (span.kind == SpanKind::kCollective) {
        ++seen;
        EXPECT_THAT(span.details.arguments,
                    HasSubstr("\"Rank\": " + std::to_string(group.rank()) +
                              ", \"Process Group Ranks\": \"[" + members + "]\""));
      }
    }
    EXPECT_EQ(seen, 2);
  }
  MPI_Comm_free(&backwards);
}

}  // namespace
}  // namespace steptape
