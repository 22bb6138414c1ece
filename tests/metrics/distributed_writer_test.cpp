// SPDX-License-Identifier: Apache-2.0
#include "steptape/metrics/distributed_writer.h"

#include <filesystem>
#include <limits>
#include <memory>
#include <string>
#include <type_traits>
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
using ::testing::NanSensitiveFloatEq;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

ReducedOptions weight(double value) {
  ReducedOptions options;
  options.weight = value;
  return options;
}

ReducedOptions allStatistics() {
  ReducedOptions options;
  options.min = options.max = options.std = options.argmaxRank = true;
  return options;
}

using DistributedWriterTest = test::WriterOnRanks;

TEST_F(DistributedWriterTest, WritesTheRootsOwnValuesIntoOneFile) {
  onRanks(3, [](DistributedWriter& writer, Communicator& world) {
    writer.addScalar("lr", 0.5 + world.rank(), 1);
  });
  EXPECT_THAT(pointsOf(), ElementsAre(Pair("lr", Points{{1, 0.5F}})));
  EXPECT_THAT(runs(), ElementsAre("."));
  const std::filesystem::directory_iterator files(logDir());
  EXPECT_EQ(std::distance(begin(files), end(files)), 1);
}

TEST_F(DistributedWriterTest, WritesTheWeightedMeanOfAllRanksOnce) {
  onRanks(3, [](DistributedWriter& writer, Communicator& world) {
    for (int step = 0; step < 3; ++step) {
      writer.addReduced("loss", world.rank() + step, step, weight(world.rank() + 1));
      writer.addReduced("acc", 0.25, step);
      writer.reduce(step);
    }
  });
  // (0 * 1 + 1 * 2 + 2 * 3) / 6 = 8 / 6, then one more at each step.
  EXPECT_THAT(pointsOf(),
              ElementsAre(Pair("acc", Points{{0, 0.25F}, {1, 0.25F}, {2, 0.25F}}),
                          Pair("loss", Points{{0, 8.0F / 6}, {1, 14.0F / 6}, {2, 20.0F / 6}})));
}

TEST_F(DistributedWriterTest, WritesTheStatisticsThatAreAskedFor) {
  onRanks(3, [](DistributedWriter& writer, Communicator& world) {
    writer.addReduced("time", world.rank() == 1 ? 8 : 2, 7, allStatistics());
    writer.reduce(7);
  });
  // Values 2, 8, 2: mean 4, variance (4 + 16 + 4) / 3 = 8.
  EXPECT_THAT(
      pointsOf(),
      ElementsAre(Pair("time", Points{{7, 4.0F}}), Pair("time/argmax_rank", Points{{7, 1.0F}}),
                  Pair("time/max", Points{{7, 8.0F}}), Pair("time/min", Points{{7, 2.0F}}),
                  Pair("time/std", Points{{7, 2.8284271F}})));
}

TEST_F(DistributedWriterTest, PropagatesNanToTheMean) {
  onRanks(2, [](DistributedWriter& writer, Communicator& world) {
    writer.addReduced("loss", world.isRoot() ? 1 : std::numeric_limits<double>::quiet_NaN(), 0);
    writer.reduce(0);
  });
  EXPECT_THAT(pointsOf().at("loss").at(0).second,
              NanSensitiveFloatEq(std::numeric_limits<float>::quiet_NaN()));
}

TEST_F(DistributedWriterTest, KeepsAnExplicitWallTimeOfTheRoot) {
  onRanks(2, [](DistributedWriter& writer, Communicator& world) {
    ReducedOptions options;
    options.wallTime = 1700000000.25 + world.rank();
    writer.addReduced("loss", 1, 0, options);
    writer.reduce(0);
  });
  EXPECT_EQ(readScalars(logDir()).at("loss").at(0).wallTime, 1700000000.25);
}

TEST_F(DistributedWriterTest, GivesEachRankASubRunAndTheMeanToTheJob) {
  policy_ = RankPolicy::kPerRank;
  onRanks(2, [](DistributedWriter& writer, Communicator& world) {
    writer.addScalar("own", world.rank(), 1);
    writer.addReduced("loss", world.rank(), 1, allStatistics());
    writer.reduce(1);
  });
  EXPECT_THAT(runs(), UnorderedElementsAre(".", "rank_00000", "rank_00001"));
  EXPECT_EQ(pointsOf().at("loss"), (Points{{1, 0.5F}}));
  EXPECT_EQ(pointsOf().count("own"), 0U);
  EXPECT_THAT(pointsOf("rank_00001"),
              ElementsAre(Pair("loss", Points{{1, 1.0F}}), Pair("own", Points{{1, 1.0F}})));
  EXPECT_THAT(pointsOf("rank_00000"),
              ElementsAre(Pair("loss", Points{{1, 0.0F}}), Pair("own", Points{{1, 0.0F}})));
}

TEST_F(DistributedWriterTest, AveragesPlainScalarsUnderTheReducedPolicy) {
  policy_ = RankPolicy::kReduced;
  onRanks(2, [](DistributedWriter& writer, Communicator& world) {
    writer.addScalar("loss", world.rank(), 1);
    ScalarOptions options;
    options.wallTime = 1700000000;
    writer.addScalar("acc", world.rank(), 1, options);
    writer.reduce(1);
  });
  EXPECT_THAT(pointsOf(),
              ElementsAre(Pair("acc", Points{{1, 0.5F}}), Pair("loss", Points{{1, 0.5F}})));
}

TEST_F(DistributedWriterTest, SkipsAMetricWithoutValuesAndReportsItOnce) {
  onRanks(2, [](DistributedWriter& writer, Communicator&) {
    for (int step = 0; step < 3; ++step) {
      writer.addReduced("loss", 1, step, weight(0));
      writer.reduce(step);
    }
  });
  EXPECT_THAT(pointsOf(), IsEmpty());
  EXPECT_THAT(reports_, ElementsAre(HasSubstr("no rank had a value of 'loss' at step 0")));
}

TEST_F(DistributedWriterTest, ThrowsTheSameErrorOnAllRanksThatDisagreeAndStaysUsable) {
  std::vector<std::string> messages(3);
  onRanks(3, [&](DistributedWriter& writer, Communicator& world) {
    writer.addReduced(world.rank() == 2 ? "acc" : "loss", 1, 5);
    try {
      writer.reduce(5);
      ADD_FAILURE() << "reduce() did not throw on rank " << world.rank();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kRankMismatch);
      messages[static_cast<std::size_t>(world.rank())] = error.what();
    }
    writer.addReduced("loss", world.rank(), 6);
    writer.reduce(6);
  });
  EXPECT_THAT(messages[0], HasSubstr(") reduces 'acc' at step 5, which rank 0 ("));
  EXPECT_EQ(messages[1], messages[0]);
  EXPECT_EQ(messages[2], messages[0]);
  EXPECT_THAT(pointsOf(), ElementsAre(Pair("loss", Points{{6, 1.0F}})));
}

TEST_F(DistributedWriterTest, CountsWhatWasNeverReducedInItsDestructorWithoutACollective) {
  testing::runRanksShared(2, [&](const std::shared_ptr<Communicator>& world) {
    const auto counter = std::make_shared<CountingCommunicator>(world);
    int before = 0;
    {
      DistributedWriter writer(logDir(), counter, optionsWithReports());
      writer.addReduced("loss", 1, 1);
      writer.addReduced("loss", 1, 2);
      before = counter->collectives();
    }
    EXPECT_EQ(counter->collectives(), before);
  });
  EXPECT_THAT(reports_, ElementsAre(HasSubstr("2 metrics were queued by addReduced() and never"),
                                    HasSubstr("2 metrics were queued by addReduced() and never")));
}

TEST_F(DistributedWriterTest, ReportsNothingAfterAMoveFromTheMovedObject) {
  onRanks(2, [&](DistributedWriter& writer, Communicator&) {
    writer.addReduced("loss", 1, 1);
    DistributedWriter moved(std::move(writer));
    moved.reduce(1);
    writer = std::move(moved);
  });
  EXPECT_THAT(reports_, IsEmpty());
  EXPECT_EQ(pointsOf().at("loss"), (Points{{1, 1.0F}}));
}

TEST_F(DistributedWriterTest, UsesTheRootsDirectory) {
  policy_ = RankPolicy::kPerRank;
  testing::runRanksShared(2, [&](const std::shared_ptr<Communicator>& world) {
    const std::string mine = logDir() + (world->isRoot() ? "" : "_a_second_later");
    DistributedWriter writer(mine, world, optionsWithReports());
    EXPECT_EQ(writer.logDir(), logDir() + "/" + rankRunName(world->rank()));
  });
}

TEST_F(DistributedWriterTest, ThrowsOnEveryRankIfTheRootCannotStart) {
  testing::runRanksShared(3, [&](const std::shared_ptr<Communicator>& world) {
    expectError(ErrorCode::kIoError, "rank 0 (" + world->nodeName() + "): ", [&] {
      DistributedWriter writer("/dev/null/run", world);
    });
  });
}

TEST_F(DistributedWriterTest, RefusesANullCommunicator) {
  expectError(ErrorCode::kInvalidArgument, "DistributedWriter: the communicator is null",
              [&] { DistributedWriter writer(logDir(), nullptr); });
}

TEST_F(DistributedWriterTest, ReducesWithoutWritingWhenItIsNotEnabled) {
  testing::runRanksShared(2, [&](const std::shared_ptr<Communicator>& world) {
    DistributedWriterOptions options = optionsWithReports();
    options.writer.enabled = false;
    DistributedWriter writer(logDir(), world, options);
    writer.addReduced("loss", 1, 1);
    writer.reduce(1);
    writer.addReduced(world->isRoot() ? "a" : "b", 1, 2);
    expectError(ErrorCode::kRankMismatch, "reduces 'b' at step 2", [&] { writer.reduce(2); });
  });
  EXPECT_FALSE(std::filesystem::exists(logDir()));
}

// Code with a SummaryWriter& could not average: the program must name the writer.
static_assert(!std::is_convertible_v<DistributedWriter&, SummaryWriter&>);
static_assert(!std::is_constructible_v<SummaryWriter, DistributedWriter>);

TEST(RankPolicy, NamesSubRunsThatSortByRank) {
  EXPECT_EQ(rankRunName(3), "rank_00003");
  EXPECT_EQ(rankRunName(12345), "rank_12345");
  EXPECT_EQ(rankRunName(123456), "rank_123456");
}

}  // namespace
}  // namespace steptape
