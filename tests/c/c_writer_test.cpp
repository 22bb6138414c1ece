// SPDX-License-Identifier: Apache-2.0
// What is in a run that was written through the interface for C.

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "steptape/c/steptape.h"
#include "steptape/ranks/testing.h"

#include "metrics/read_back.h"
#include "support/own_black_boxes.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;
using ::testing::StartsWith;

class CWriterTest : public ::testing::Test {
 protected:
  std::string run() const { return logs_.string() + "/run"; }

  steptape_writer* open(const steptape_open_options* options = nullptr) const {
    steptape_writer* writer = nullptr;
    EXPECT_EQ(steptape_open(run().c_str(), options, &writer), STEPTAPE_OK)
        << steptape_error_message();
    return writer;
  }

  const test::OwnBlackBoxes boxes_;
  const testing::TempDir logs_;
};

TEST_F(CWriterTest, WritesScalarsByTagBySeriesAndByStep) {
  steptape_writer* const writer = open();
  EXPECT_THAT(steptape_run(writer), EndsWith("/run"));
  steptape_series series[2] = {};
  EXPECT_EQ(steptape_get_series(writer, "a", nullptr, &series[0]), STEPTAPE_OK);
  EXPECT_EQ(steptape_get_series(writer, "b", nullptr, &series[1]), STEPTAPE_OK);
  EXPECT_EQ(steptape_add(writer, series[0], 0.5, 1), STEPTAPE_OK);
  EXPECT_EQ(steptape_add_scalar(writer, "a", 1.5, 2), STEPTAPE_OK);
  EXPECT_EQ(steptape_add_scalar_n(writer, "a with more behind it", 1, 2.5, 3), STEPTAPE_OK);
  const double values[] = {3.5, 4.5};
  EXPECT_EQ(steptape_add_step(writer, 4, series, values, 2), STEPTAPE_OK);
  EXPECT_EQ(steptape_flush(writer), STEPTAPE_OK);
  EXPECT_EQ(steptape_close(writer), STEPTAPE_OK);
  const auto points = test::readPoints(run());
  EXPECT_THAT(points.at("a"),
              ElementsAre(Pair(1, 0.5F), Pair(2, 1.5F), Pair(3, 2.5F), Pair(4, 3.5F)));
  EXPECT_THAT(points.at("b"), ElementsAre(Pair(4, 4.5F)));
}

TEST_F(CWriterTest, KeepsTheTimeThatItIsGiven) {
  steptape_writer* const writer = open();
  steptape_value_options options = STEPTAPE_VALUE_OPTIONS_INIT;
  options.wall_time = 1234.5;
  EXPECT_EQ(steptape_add_scalar_with(writer, "a", NAN, 1, &options), STEPTAPE_OK);
  EXPECT_EQ(steptape_close(writer), STEPTAPE_OK);
  const RunReader reader = test::readRun(listRuns(run()).at(0));
  const ScalarColumns& points = reader.tags().at("a").scalars;
  EXPECT_THAT(points.wallTimes, ElementsAre(1234.5));
  EXPECT_TRUE(std::isnan(points.values.at(0)));
}

TEST_F(CWriterTest, ResumesAtAStep) {
  steptape_writer* writer = open();
  for (std::int64_t step = 0; step < 5; ++step) {
    EXPECT_EQ(steptape_add_scalar(writer, "a", 1, step), STEPTAPE_OK);
  }
  EXPECT_EQ(steptape_close(writer), STEPTAPE_OK);
  steptape_open_options options = STEPTAPE_OPEN_OPTIONS_INIT;
  options.has_purge_step = 1;
  options.purge_step = 2;
  writer = open(&options);
  EXPECT_EQ(steptape_add_scalar(writer, "a", 2, 2), STEPTAPE_OK);
  EXPECT_EQ(steptape_close(writer), STEPTAPE_OK);
  EXPECT_THAT(test::readPoints(run()).at("a"),
              ElementsAre(Pair(0, 1.0F), Pair(1, 1.0F), Pair(2, 2.0F)));
}

TEST_F(CWriterTest, WritesNothingIfItIsDisabled) {
  steptape_open_options options = STEPTAPE_OPEN_OPTIONS_INIT;
  options.disabled = 1;
  steptape_writer* const writer = open(&options);
  EXPECT_EQ(steptape_add_scalar(writer, "a", 1, 1), STEPTAPE_OK);
  EXPECT_EQ(steptape_close(writer), STEPTAPE_OK);
  EXPECT_THAT(listRuns(logs_.string()), IsEmpty());
}

/// The ranks of a job, as Open MPI's launcher numbers them.
class CRanksTest : public CWriterTest {
 protected:
  CRanksTest() {
    setenv("OMPI_COMM_WORLD_SIZE", "3", 1);
    setenv("OMPI_COMM_WORLD_RANK", "2", 1);
  }
  ~CRanksTest() override {
    unsetenv("OMPI_COMM_WORLD_SIZE");
    unsetenv("OMPI_COMM_WORLD_RANK");
  }

  void log(steptape_ranks ranks) const {
    steptape_open_options options = STEPTAPE_OPEN_OPTIONS_INIT;
    options.ranks = ranks;
    steptape_writer* const writer = open(&options);
    EXPECT_EQ(steptape_add_scalar(writer, "a", 1, 1), STEPTAPE_OK) << steptape_error_message();
    EXPECT_EQ(steptape_close(writer), STEPTAPE_OK);
  }
};

TEST_F(CRanksTest, OnlyTheRootWritesUnlessAskedOtherwise) {
  log(STEPTAPE_RANKS_ROOT);
  EXPECT_THAT(listRuns(logs_.string()), IsEmpty());
  setenv("OMPI_COMM_WORLD_RANK", "0", 1);
  log(STEPTAPE_RANKS_ROOT);
  EXPECT_THAT(listRuns(logs_.string()), SizeIs(1));
}

TEST_F(CRanksTest, EachRankHasASubRun) {
  log(STEPTAPE_RANKS_EACH);
  EXPECT_THAT(test::readPoints(run(), "rank_00002").at("a"), ElementsAre(Pair(1, 1.0F)));
}

TEST_F(CRanksTest, AProcessThatIsToldToWritesWhateverItsRank) {
  log(STEPTAPE_RANKS_ALL);
  EXPECT_THAT(test::readPoints(run()).at("a"), ElementsAre(Pair(1, 1.0F)));
}

TEST_F(CWriterTest, IsFlushedWhenTheProgramEndsWithoutClosingIt) {
  const pid_t child = fork();
  if (child == 0) {
    steptape_writer* writer = nullptr;
    steptape_open(run().c_str(), nullptr, &writer);
    steptape_add_scalar(writer, "a", 1, 1);
    std::exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_THAT(test::readPoints(run()).at("a"), ElementsAre(Pair(1, 1.0F)));
}

}  // namespace
}  // namespace steptape
