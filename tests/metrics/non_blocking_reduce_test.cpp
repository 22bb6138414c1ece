// SPDX-License-Identifier: Apache-2.0
// DistributedWriter with ReduceMode::kNonBlocking.

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "metrics/writer_on_ranks.h"
#include "ranks/communicator/counting_communicator.h"
#include "support/expect_error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape {
namespace {

using test::CountingCommunicator;
using test::expectError;
using test::Points;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

class NonBlockingReduce : public test::WriterOnRanks {
 protected:
  NonBlockingReduce() { mode_ = ReduceMode::kNonBlocking; }

  /// Reduces the loss rank + step for each of `steps` steps.
  static void train(DistributedWriter& writer, Communicator& world, int steps) {
    for (int step = 0; step < steps; ++step) {
      writer.addReduced("loss", world.rank() + step, step);
      writer.reduce(step);
    }
  }
};

class NonBlockingReduceOnRanks : public NonBlockingReduce,
                                 public ::testing::WithParamInterface<int> {};
INSTANTIATE_TEST_SUITE_P(Ranks, NonBlockingReduceOnRanks, ::testing::Values(1, 2, 3, 7));

TEST_P(NonBlockingReduceOnRanks, WritesEveryStepAndTheLastOneWhenClosed) {
  onRanks(GetParam(),
          [](DistributedWriter& writer, Communicator& world) { train(writer, world, 30); });
  const Points loss = pointsOf().at("loss");
  ASSERT_THAT(loss, SizeIs(30));
  for (int step = 0; step < 30; ++step) {
    EXPECT_EQ(
        loss[static_cast<std::size_t>(step)],
        std::make_pair(std::int64_t{step}, static_cast<float>(step + (GetParam() - 1) / 2.0)));
  }
}

TEST_P(NonBlockingReduceOnRanks, WritesTheSameAsTheBlockingMode) {
  const auto body = [](DistributedWriter& writer, Communicator& world) {
    for (int step = 0; step < 5; ++step) {
      // The number of metrics grows, statistics are added, and rank values come and go.
      for (int metric = 0; metric < 10 * step; ++metric) {
        writer.addReduced("metric" + std::to_string(metric), world.rank() * metric, step);
      }
      writer.addReduced("loss", world.rank() + step, step,
                        step % 2 == 1 ? ReducedOptions::all() : ReducedOptions());
      writer.reduce(step);
    }
  };
  onRanks(GetParam(), body);
  const test::PointsByTag nonBlocking = pointsOf();
  const std::size_t histograms = values().at("loss/ranks").size();
  std::filesystem::remove_all(logDir());
  mode_ = ReduceMode::kBlocking;
  onRanks(GetParam(), body);
  EXPECT_EQ(nonBlocking, pointsOf());
  EXPECT_THAT(nonBlocking.at("loss/p90"), SizeIs(2));
  EXPECT_EQ(histograms, values().at("loss/ranks").size());
}

TEST_F(NonBlockingReduce, WritesAStepWhenTheNextOneIsReduced) {
  onRanks(2, [this](DistributedWriter& writer, Communicator& world) {
    train(writer, world, 2);
    // Flushing the local writer does not include the step in flight.
    EXPECT_TRUE(writer.localWriter().flush().ok());
    if (world.isRoot()) {
      EXPECT_EQ(pointsOf().at("loss"), (Points{{0, 0.5F}}));
    }
    world.barrier();
  });
}

TEST_F(NonBlockingReduce, HasEverythingOnDiskWhenTheRootAloneHasFlushed) {
  onRanks(3, [this](DistributedWriter& writer, Communicator& world) {
    train(writer, world, 2);
    if (world.isRoot()) {
      EXPECT_TRUE(writer.flush().ok());
      EXPECT_THAT(pointsOf().at("loss"), SizeIs(2));
    }
    world.barrier();
  });
}

TEST_F(NonBlockingReduce, WritesTheStepInFlightWhenFinished) {
  onRanks(3, [this](DistributedWriter& writer, Communicator& world) {
    train(writer, world, 1);
    writer.finishReduce();
    writer.finishReduce();
    EXPECT_TRUE(writer.localWriter().flush().ok());
    if (world.isRoot()) {
      EXPECT_EQ(pointsOf().at("loss"), (Points{{0, 1.0F}}));
    }
    world.barrier();
  });
}

TEST_F(NonBlockingReduce, WritesTheStepInFlightInTheDestructor) {
  testing::runRanksShared(2, [&](const std::shared_ptr<Communicator>& world) {
    DistributedWriter writer(logDir(), world, optionsWithReports());
    train(writer, *world, 2);
  });
  EXPECT_THAT(pointsOf().at("loss"), SizeIs(2));
  EXPECT_THAT(reports_, IsEmpty());
}

TEST_F(NonBlockingReduce, WritesTheStepInFlightBeforeMoveAssignment) {
  testing::runRanksShared(2, [&](const std::shared_ptr<Communicator>& world) {
    DistributedWriter writer(logDir(), world, optionsWithReports());
    train(writer, *world, 1);
    writer = DistributedWriter(logDir() + "/next", world, optionsWithReports());
    writer.addReduced("next", 1, 0);
    writer.reduce(0);
    DistributedWriter moved(std::move(writer));
    EXPECT_TRUE(moved.close().ok());
  });
  EXPECT_EQ(pointsOf().at("loss"), (Points{{0, 0.5F}}));
  EXPECT_EQ(pointsOf("next").at("next"), (Points{{0, 1.0F}}));
}

TEST_F(NonBlockingReduce, StartsOneCollectiveAStepAndNoneAtTheEnd) {
  testing::runRanksShared(2, [&](const std::shared_ptr<Communicator>& world) {
    const auto counter = std::make_shared<CountingCommunicator>(world);
    DistributedWriter writer(logDir(), counter, optionsWithReports());
    const int before = counter->collectives();
    train(writer, *counter, 10);
    EXPECT_TRUE(writer.flush().ok());
    EXPECT_TRUE(writer.close().ok());
    EXPECT_EQ(counter->collectives() - before, 10);
  });
}

TEST_F(NonBlockingReduce, ReportsADisagreementOneStepLaterWithItsOwnStep) {
  std::vector<std::string> messages(3);
  onRanks(3, [&](DistributedWriter& writer, Communicator& world) {
    writer.addReduced(world.rank() == 2 ? "acc" : "loss", 1, 5);
    writer.reduce(5);
    writer.addReduced("loss", 1, 6);
    try {
      writer.reduce(6);
      ADD_FAILURE() << "reduce() did not throw on rank " << world.rank();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kRankMismatch);
      messages[static_cast<std::size_t>(world.rank())] = error.what();
    }
    writer.addReduced("loss", world.rank(), 7);
    writer.reduce(7);
  });
  EXPECT_THAT(messages[0], HasSubstr(") reduces 'acc' at step 5, which rank 0 ("));
  EXPECT_THAT(messages, ElementsAre(messages[0], messages[0], messages[0]));
  EXPECT_THAT(pointsOf(), ElementsAre(Pair("loss", Points{{7, 1.0F}})));
}

TEST_F(NonBlockingReduce, ReturnsADisagreementFromFlushAndThrowsItLater) {
  onRanks(2, [](DistributedWriter& writer, Communicator& world) {
    writer.addReduced(world.isRoot() ? "acc" : "loss", 1, 5);
    writer.reduce(5);
    const Status status = writer.flush();
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.code(), ErrorCode::kRankMismatch);
    EXPECT_THAT(status.message(), HasSubstr("the ranks reduce different metrics at step 5"));
    expectError(ErrorCode::kRankMismatch, "reduces 'loss' at step 5",
                [&] { writer.finishReduce(); });
    EXPECT_TRUE(writer.flush().ok());
  });
}

TEST_F(NonBlockingReduce, ReportsADisagreementInTheDestructor) {
  testing::runRanksShared(2, [&](const std::shared_ptr<Communicator>& world) {
    DistributedWriter writer(logDir(), world, optionsWithReports());
    writer.addReduced(world->isRoot() ? "acc" : "loss", 1, 5);
    writer.reduce(5);
  });
  EXPECT_THAT(reports_, ElementsAre(HasSubstr("different metrics at step 5"),
                                    HasSubstr("different metrics at step 5")));
}

TEST_F(NonBlockingReduce, ThrowsOnARankThatIsAloneInsteadOfHanging) {
  expectError(ErrorCode::kDeadlineExceeded, "rank 1", [&] {
    testing::runRanksShared(2, [&](const std::shared_ptr<Communicator>& world) {
      DistributedWriter writer(logDir(), world, optionsWithReports());
      if (world->isRoot()) {
        train(writer, *world, 1);
        const Status status = writer.flush();
        EXPECT_EQ(status.code(), ErrorCode::kDeadlineExceeded);
        status.throwIfError();
      }
    });
  });
}

TEST_F(NonBlockingReduce, WritesEachRanksOwnMeansToo) {
  policy_ = RankPolicy::kPerRank;
  onRanks(2, [](DistributedWriter& writer, Communicator& world) { train(writer, world, 3); });
  EXPECT_EQ(pointsOf("rank_00001").at("loss"), (Points{{0, 1.0F}, {1, 2.0F}, {2, 3.0F}}));
  EXPECT_EQ(pointsOf().at("loss"), (Points{{0, 0.5F}, {1, 1.5F}, {2, 2.5F}}));
}

TEST_F(NonBlockingReduce, LeavesOtherCollectivesOfTheSameGroupAlone) {
  onRanks(3, [](DistributedWriter& writer, Communicator& world) {
    for (int step = 0; step < 10; ++step) {
      writer.addReduced("loss", world.rank(), step, ReducedOptions::all());
      writer.reduce(step);
      EXPECT_THAT(world.allgather(std::to_string(world.rank())), ElementsAre("0", "1", "2"));
    }
  });
  EXPECT_THAT(pointsOf().at("loss/p50"), SizeIs(10));
}

}  // namespace
}  // namespace steptape
