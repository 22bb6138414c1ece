// SPDX-License-Identifier: Apache-2.0
// The spans that a profiler records of a Communicator's operations.

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "steptape/base/clock.h"
#include "steptape/ranks/communicator.h"
#include "steptape/ranks/testing.h"

#include "ranks/communicator/counting_communicator.h"
#include "ranks/communicator/node_barrier.h"
#include "ranks/communicator/span_recording.h"
#include "support/expect_error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape {
namespace {

using test::expectError;
using test::namesOf;
using test::SeenSpan;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

using Spans = std::vector<SeenSpan>;

CollectiveOptions named(const std::string& name) {
  CollectiveOptions options;
  options.name = name;
  return options;
}

/// Returns the spans that each rank of a group of threads records in `body`.
std::vector<Spans> spansByRank(int ranks, const std::function<void(Communicator&)>& body) {
  test::SpanRecording recording;
  testing::runRanks(ranks, [&](Communicator& world) {
    setThreadName(("rank " + std::to_string(world.rank())).c_str());
    body(world);
  });
  std::map<std::string, Spans> spans = recording.take();
  std::vector<Spans> byRank;
  for (int rank = 0; rank < ranks; ++rank) {
    byRank.push_back(spans["rank " + std::to_string(rank)]);
  }
  return byRank;
}

/// Does the same for the group of one, a plain Communicator.
Spans spansOfOne(const std::function<void(Communicator&)>& body) {
  test::SpanRecording recording;
  setThreadName("the only rank");
  Communicator alone;
  body(alone);
  return recording.take()["the only rank"];
}

class CollectiveSpanOnRanks : public ::testing::TestWithParam<int> {
 protected:
  /// `"Group size": 3, "Rank": 1, "Process Group Ranks": "[0, 1, 2]"`.
  static std::string group(int rank) {
    std::string ranks;
    for (int other = 0; other < GetParam(); ++other) {
      ranks += (other == 0 ? "" : ", ") + std::to_string(other);
    }
    return "\"Group size\": " + std::to_string(GetParam()) + ", \"Rank\": " + std::to_string(rank) +
           ", \"Process Group Ranks\": \"[" + ranks + "]\"";
  }
};
INSTANTIATE_TEST_SUITE_P(Ranks, CollectiveSpanOnRanks, ::testing::Values(1, 2, 3, 7));

TEST_P(CollectiveSpanOnRanks, IsRecordedOfEachOperationWithItsWait) {
  const std::vector<Spans> byRank = spansByRank(GetParam(), [](Communicator& world) {
    const auto size = static_cast<std::size_t>(world.size());
    std::vector<float> many(size, 1.0F);
    std::vector<float> one(1);
    std::vector<MetricMoments> moments(2);
    world.barrier();
    world.allreduce(many, ReduceOp::kSum);
    world.allreduceGrouped({many, one}, ReduceOp::kMax);
    world.allreduce(ArrayView<MetricMoments>(moments));
    world.reduceScatter(many, one, ReduceOp::kSum);
    world.broadcast(many.data(), 4, 0);
    world.allgather("bytes");
    world.gatherObject("bytes", 0);
    world.alltoall(std::vector<std::string>(size, "bytes"));
  });
  std::vector<std::string> expected;
  for (const char* const name : {"gloo:barrier", "gloo:all_reduce", "gloo:all_reduce",
                                 "gloo:all_reduce", "gloo:reduce_scatter", "gloo:broadcast",
                                 "gloo:all_gather", "gloo:gather", "gloo:all_to_all"}) {
    if (GetParam() > 1) {
      expected.emplace_back("wait for ranks");
    }
    expected.emplace_back(name);
  }
  for (const Spans& spans : byRank) {
    EXPECT_EQ(namesOf(spans), expected);
    for (std::size_t i = 0; i < spans.size(); ++i) {
      EXPECT_FALSE(spans[i].isDetached);
      const bool isWait = spans[i].name == "wait for ranks";
      EXPECT_EQ(spans[i].kind, isWait ? SpanKind::kWait : SpanKind::kCollective);
      EXPECT_EQ(spans[i].depth, isWait ? 1 : 0);
      if (isWait) {
        EXPECT_TRUE(spans[i + 1].encloses(spans[i])) << i;
      }
    }
  }
}

TEST_P(CollectiveSpanOnRanks, DescribesTheReducedData) {
  const std::vector<Spans> byRank = spansByRank(GetParam(), [](Communicator& world) {
    std::vector<float> floats(12);
    world.allreduce(floats, ReduceOp::kAverage, named("gradients of \"fc1\""));
    std::vector<std::int64_t> from(3 * static_cast<std::size_t>(world.size()));
    std::vector<std::int64_t> to(3);
    world.reduceScatter(from, to, ReduceOp::kMax);
    std::vector<MetricMoments> moments(2);
    world.allreduce(ArrayView<MetricMoments>(moments), named("metrics"));
    std::vector<std::uint16_t> halves(5);
    world.allreduce({halves.data(), 5, DType::kBFloat16}, ReduceOp::kSum);
  });
  for (int rank = 0; rank < GetParam(); ++rank) {
    Spans collectives;
    for (const SeenSpan& span : byRank[static_cast<std::size_t>(rank)]) {
      if (span.kind == SpanKind::kCollective) {
        collectives.push_back(span);
      }
    }
    ASSERT_THAT(collectives, SizeIs(4));
    EXPECT_EQ(collectives[0].details.arguments,
              "\"Collective name\": \"allreduce\", \"Name\": \"gradients of \\\"fc1\\\"\", "
              "\"Reduction\": \"average\", \"dtype\": \"Float\", \"In msg nelems\": 12, "
              "\"Out msg nelems\": 12, " +
                  group(rank));
    EXPECT_EQ(collectives[0].details.bytes, 48);
    EXPECT_EQ(collectives[0].details.shapes, "[[12]]");
    EXPECT_EQ(collectives[0].details.types, "[\"float\"]");

    const std::string in = std::to_string(3 * GetParam());
    EXPECT_EQ(collectives[1].details.arguments,
              "\"Collective name\": \"reduce_scatter\", \"Reduction\": \"max\", "
              "\"dtype\": \"Long\", \"In msg nelems\": " +
                  in + ", \"Out msg nelems\": 3, " + group(rank));
    EXPECT_EQ(collectives[1].details.bytes, 24 * GetParam());
    EXPECT_EQ(collectives[1].details.types, "[\"long int\"]");

    EXPECT_EQ(collectives[2].details.arguments,
              "\"Collective name\": \"allreduce\", \"Name\": \"metrics\", "
              "\"Reduction\": \"merge\", \"dtype\": \"Double\", \"In msg nelems\": 12, "
              "\"Out msg nelems\": 12, " +
                  group(rank));
    EXPECT_EQ(collectives[2].details.bytes, 2 * std::int64_t{sizeof(MetricMoments)});

    EXPECT_THAT(collectives[3].details.arguments, HasSubstr("\"dtype\": \"BFloat16\""));
    EXPECT_EQ(collectives[3].details.types, "[\"c10::BFloat16\"]");
    EXPECT_EQ(collectives[3].details.bytes, 10);
  }
}

TEST_P(CollectiveSpanOnRanks, DescribesTheExchangedData) {
  const int ranks = GetParam();
  const std::vector<Spans> byRank = spansByRank(ranks, [](Communicator& world) {
    // Rank r sends r + 1 bytes.
    world.allgather(std::string(static_cast<std::size_t>(world.rank()) + 1, 'x'));
    world.gatherObject("four", world.size() - 1);
    world.broadcastObject("to all", 0);
  });
  const std::string total = std::to_string(ranks * (ranks + 1) / 2);
  const std::string last = std::to_string(ranks - 1);
  for (int rank = 0; rank < ranks; ++rank) {
    std::vector<std::string> arguments;
    std::vector<std::int64_t> bytes;
    for (const SeenSpan& span : byRank[static_cast<std::size_t>(rank)]) {
      if (span.kind == SpanKind::kCollective) {
        arguments.push_back(span.details.arguments);
        bytes.push_back(span.details.bytes);
      }
    }
    const std::string gathered = rank == ranks - 1 ? std::to_string(4 * ranks) : "0";
    EXPECT_THAT(
        arguments,
        ElementsAre(
            "\"Collective name\": \"all_gather\", \"dtype\": \"Byte\", "
            "\"In msg nelems\": " +
                std::to_string(rank + 1) + ", \"Out msg nelems\": " + total + ", " + group(rank),
            "\"Collective name\": \"gather\", \"Root\": " + last +
                ", \"dtype\": \"Byte\", \"In msg nelems\": 4, \"Out msg nelems\": " + gathered +
                ", " + group(rank),
            "\"Collective name\": \"broadcast\", \"Root\": 0, \"dtype\": \"Byte\", "
            "\"In msg nelems\": 8, \"Out msg nelems\": 8, " +
                group(rank),
            "\"Collective name\": \"broadcast\", \"Root\": 0, \"dtype\": \"Byte\", "
            "\"In msg nelems\": 6, \"Out msg nelems\": 6, " +
                group(rank)));
    EXPECT_EQ(bytes[0], ranks * (ranks + 1) / 2);
  }
}

TEST_P(CollectiveSpanOnRanks, ListsTheJobRanksOfAGroup) {
  const std::vector<Spans> byRank = spansByRank(GetParam(), [](Communicator& world) {
    // The upper half in reverse order, and half of that again.
    std::vector<int> upper;
    for (int rank = world.size() - 1; rank >= world.size() / 2; --rank) {
      upper.push_back(rank);
    }
    if (const auto half = world.subgroup(upper)) {
      if (const auto quarter = half->split(half->rank() % 2 == 0 ? 0 : -1, 0)) {
        quarter->barrier(named("inner"));
      }
    }
  });
  std::string members;
  for (int rank = GetParam() - 1; rank >= GetParam() / 2; rank -= 2) {
    members += (members.empty() ? "" : ", ") + std::to_string(rank);
  }
  const SeenSpan& inner = byRank.back().back();
  EXPECT_THAT(inner.details.arguments, HasSubstr("\"Name\": \"inner\""));
  EXPECT_THAT(inner.details.arguments, HasSubstr("\"Process Group Ranks\": \"[" + members + "]\""));
  EXPECT_THAT(inner.details.arguments, HasSubstr("\"Rank\": 0"));
}

TEST_P(CollectiveSpanOnRanks, WaitSpanEndsWhenTheLastRankArrives) {
  std::atomic<int> comers{0};
  std::atomic<std::uint64_t> lastCame{0};
  const std::vector<Spans> byRank = spansByRank(GetParam(), [&](Communicator& world) {
    std::vector<double> data(1000);
    if (world.rank() == world.size() - 1) {
      while (comers < world.size() - 1) {
        std::this_thread::yield();
      }
      lastCame = readTicks();
    }
    ++comers;
    world.allreduce(data, ReduceOp::kSum);
  });
  for (int rank = 0; rank < GetParam(); ++rank) {
    const Spans& spans = byRank[static_cast<std::size_t>(rank)];
    ASSERT_THAT(spans, SizeIs(GetParam() == 1 ? 1 : 2));
    EXPECT_GE(spans.front().endTicks, lastCame.load());
    if (rank == GetParam() - 1) {
      EXPECT_GE(spans.front().startTicks, lastCame.load());
    }
  }
}

TEST_P(CollectiveSpanOnRanks, IsDetachedForAsynchronousOperations) {
  const std::vector<Spans> byRank = spansByRank(GetParam(), [](Communicator& world) {
    std::vector<float> data(12);
    CollectiveHandle handle = world.allreduceAsync(data, ReduceOp::kSum, named("waited for"));
    { STEPTAPE_ZONE("computing"); }
    handle.wait();
  });
  for (const Spans& spans : byRank) {
    // In a group of one, the operation has ended when the call returns.
    if (GetParam() == 1) {
      ASSERT_EQ(namesOf(spans), (std::vector<std::string>{"gloo:all_reduce", "computing"}));
      EXPECT_TRUE(spans[0].isDetached);
      continue;
    }
    ASSERT_EQ(namesOf(spans),
              (std::vector<std::string>{"computing", "wait for ranks", "wait for gloo:all_reduce",
                                        "gloo:all_reduce"}));
    EXPECT_EQ(spans[1].kind, SpanKind::kWait);
    EXPECT_EQ(spans[1].depth, 1);
    EXPECT_EQ(spans[2].kind, SpanKind::kCollective);
    EXPECT_FALSE(spans[2].isDetached);
    EXPECT_EQ(spans[2].details, SpanDetails()) << "told twice, it would be counted twice";
    EXPECT_TRUE(spans[3].isDetached);
    EXPECT_EQ(spans[3].kind, SpanKind::kCollective);
    EXPECT_TRUE(spans[3].encloses(spans[0]));
    EXPECT_TRUE(spans[3].encloses(spans[2]));
    EXPECT_TRUE(spans[2].encloses(spans[1]));
    EXPECT_THAT(spans[3].details.arguments, HasSubstr("\"Name\": \"waited for\""));
    EXPECT_EQ(spans[3].details.bytes, 48);
  }
}

TEST_P(CollectiveSpanOnRanks, EndsWhenAPollFindsTheEndOrTheHandleIsDropped) {
  const std::vector<Spans> byRank = spansByRank(GetParam(), [](Communicator& world) {
    std::vector<std::string> gathered;
    CollectiveHandle polled = world.allgatherAsync("x", gathered);
    while (!polled.isDone()) {
      std::this_thread::yield();
    }
    { STEPTAPE_ZONE("polled"); }
    std::vector<float> data(3);
    { const CollectiveHandle dropped = world.allreduceGroupedAsync({data}, ReduceOp::kMin); }
    { STEPTAPE_ZONE("dropped"); }
  });
  for (const Spans& spans : byRank) {
    std::vector<std::string> names = namesOf(spans);
    if (GetParam() == 1) {
      EXPECT_THAT(names, ElementsAre("gloo:all_gather", "polled", "gloo:all_reduce", "dropped"));
    } else {
      EXPECT_THAT(names, ElementsAre("gloo:all_gather", "polled", "wait for ranks",
                                     "wait for gloo:all_reduce", "gloo:all_reduce", "dropped"));
    }
    EXPECT_THAT(spans[0].details.arguments,
                HasSubstr("\"Out msg nelems\": " + std::to_string(GetParam())));
  }
}

TEST(CollectiveSpan, EndsWhenRanksAreInDifferentOperations) {
  const std::vector<Spans> byRank = spansByRank(3, [](Communicator& world) {
    std::vector<std::string> gathered;
    expectError(ErrorCode::kRankMismatch, "different operations", [&] {
      world.rank() == 1 ? world.barrier() : static_cast<void>(world.allgather("x"));
    });
    expectError(ErrorCode::kRankMismatch, "different operations", [&] {
      world.allgatherAsync("x", gathered, named(std::to_string(world.rank()))).wait();
    });
    world.barrier();
  });
  for (const Spans& spans : byRank) {
    ASSERT_THAT(spans, SizeIs(7));
    EXPECT_EQ(spans[4].name, "gloo:all_gather");
    // The result of a failed operation is not described.
    EXPECT_THAT(spans[4].details.arguments, HasSubstr("\"In msg nelems\": 1, \"Group size\": 3"));
    EXPECT_EQ(spans[6].name, "gloo:barrier");
    EXPECT_EQ(spans[6].depth, 0);
  }
  EXPECT_EQ(byRank[0][1].name, "gloo:all_gather");
  EXPECT_EQ(byRank[1][1].name, "gloo:barrier");
}

TEST(CollectiveSpan, EndsWhenARankDoesNotArrive) {
  const std::vector<Spans> byRank = spansByRank(2, [](Communicator& world) {
    if (world.isRoot()) {
      expectError(ErrorCode::kDeadlineExceeded, "rank 1", [&] { world.barrier(); });
      expectError(ErrorCode::kDeadlineExceeded, "rank 1", [&] { world.barrier(); });
    }
  });
  EXPECT_THAT(namesOf(byRank[0]), ElementsAre("wait for ranks", "gloo:barrier", "gloo:barrier"));
  EXPECT_THAT(byRank[0], Each(Field(&SeenSpan::depth, ::testing::Le(1))));
}

TEST(CollectiveSpan, IsNotRecordedForARejectedCall) {
  const Spans spans = spansOfOne([](Communicator& alone) {
    std::vector<int> numbers(3);
    EXPECT_THROW(alone.allreduce(numbers, ReduceOp::kAverage), Error);
    EXPECT_THROW(alone.broadcast(numbers.data(), 4, 1), Error);
  });
  EXPECT_THAT(spans, IsEmpty());
}

TEST(CollectiveSpan, HasNoWaitIfArrivalIsUnknown) {
  CollectiveOptions unseen;
  unseen.compareRanks = false;
  const std::vector<Spans> byRank = spansByRank(2, [&](Communicator& world) {
    std::vector<float> data(12);
    world.allreduce(data, ReduceOp::kSum, unseen);
    world.barrier(unseen);
  });
  for (const Spans& spans : byRank) {
    // A barrier consists only of waiting.
    EXPECT_THAT(namesOf(spans), ElementsAre("gloo:all_reduce", "wait for ranks", "gloo:barrier"));
  }
}

TEST(CollectiveSpan, IsRecordedOnceByADelegatingCommunicator) {
  test::SpanRecording recording;
  testing::runRanksShared(2, [](const std::shared_ptr<Communicator>& world) {
    setThreadName(world->isRoot() ? "root" : "other");
    test::CountingCommunicator counting(world);
    std::vector<float> data(12);
    std::vector<float> more(2);
    counting.allreduceGrouped({data, more}, ReduceOp::kSum);
    counting.allreduceAsync(data, ReduceOp::kSum).wait();
  });
  const Spans spans = recording.take()["root"];
  EXPECT_THAT(namesOf(spans), ElementsAre("wait for ranks", "gloo:all_reduce", "wait for ranks",
                                          "wait for gloo:all_reduce", "gloo:all_reduce"));
  // It does not know its ranks in the job.
  EXPECT_THAT(spans[1].details.arguments,
              AllOf(HasSubstr("\"In msg nelems\": 14"), Not(HasSubstr("Process Group Ranks"))));
}

TEST(CollectiveSpan, NestsInTheZonesAroundIt) {
  const Spans spans = spansOfOne([](Communicator& alone) {
    STEPTAPE_ZONE("exchange");
    alone.barrier();
  });
  EXPECT_THAT(namesOf(spans), ElementsAre("gloo:barrier", "exchange"));
  EXPECT_EQ(spans[0].depth, 1);
  EXPECT_EQ(spans[0].details.arguments,
            "\"Collective name\": \"barrier\", \"Group size\": 1, \"Rank\": 0");
}

TEST(CollectiveSpan, IsNotRecordedIfItStartedBeforeTheRecording) {
  testing::runRanks(1, [](Communicator& world) {
    std::vector<std::string> gathered;
    CollectiveHandle handle = world.allgatherAsync("x", gathered);
    test::SpanRecording recording;
    handle.wait();
    EXPECT_THAT(recording.take(), IsEmpty());
  });
}

TEST(NodeBarrier, RecordsHowLongItWaits) {
  test::SpanRecording recording;
  testing::runRanks(2, [](Communicator& world) {
    setThreadName(world.isRoot() ? "root" : "other");
    const auto memory =
        world.allocateNodeMemory(detail::ranks::NodeBarrier::bytesFor(world.localSize()));
    detail::ranks::NodeBarrier barrier(*memory, 0, world.localRank(), world.localSize());
    STEPTAPE_ZONE("in the node");
    barrier.arriveAndWait(std::chrono::seconds(30), "gradients");
  });
  const Spans spans = recording.take()["root"];
  ASSERT_GE(spans.size(), 2U);
  const SeenSpan& wait = spans[spans.size() - 2];
  EXPECT_EQ(wait.name, "wait for ranks");
  EXPECT_EQ(wait.kind, SpanKind::kWait);
  EXPECT_EQ(wait.depth, 1);
  EXPECT_TRUE(spans.back().encloses(wait));
}

}  // namespace
}  // namespace steptape
