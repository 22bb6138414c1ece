// SPDX-License-Identifier: Apache-2.0
// The run of a job that is logged through the interface for C.

#include <memory>
#include <string>

#include "steptape/c/mpi.h"
#include "steptape/mpi.h"
#include "steptape/ranks/testing.h"

#include "metrics/read_back.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

class CMpiTest : public ::testing::Test {
 protected:
  CMpiTest() { directory_ = world_->broadcastObject(own_.string(), 0); }
  ~CMpiTest() override { world_->barrier(); }  // before the root removes the directory

  std::string run() const { return directory_ + "/run"; }
  steptape_writer* open(steptape_ranks ranks = STEPTAPE_RANKS_ROOT) const {
    steptape_open_options options = STEPTAPE_OPEN_OPTIONS_INIT;
    options.ranks = ranks;
    steptape_writer* writer = nullptr;
    EXPECT_EQ(steptape_open_mpi(run().c_str(), &options, MPI_COMM_WORLD, &writer), STEPTAPE_OK)
        << steptape_error_message();
    return writer;
  }

  const testing::TempDir own_;
  const std::shared_ptr<Communicator> world_ = world();
  std::string directory_;
};

TEST_F(CMpiTest, AveragesOverAllRanks) {
  steptape_writer* const writer = open();
  steptape_reduced_options options = STEPTAPE_REDUCED_OPTIONS_INIT;
  options.slowest = 1;
  options.maximum = 1;
  for (int step = 0; step < 3; ++step) {
    EXPECT_EQ(steptape_add_scalar(writer, "own", world_->rank(), step), STEPTAPE_OK);
    EXPECT_EQ(steptape_add_reduced(writer, "residual", step + world_->rank(), step, nullptr),
              STEPTAPE_OK);
    EXPECT_EQ(steptape_add_reduced(writer, "time", world_->rank() + 1, step, &options),
              STEPTAPE_OK);
    EXPECT_EQ(steptape_reduce(writer, step), STEPTAPE_OK) << steptape_error_message();
  }
  EXPECT_EQ(steptape_close(writer), STEPTAPE_OK);
  world_->barrier();
  if (!world_->isRoot()) {
    return;
  }
  const auto points = test::readPoints(run());
  const float mean = static_cast<float>(world_->size() - 1) / 2;
  EXPECT_THAT(points.at("residual"),
              ElementsAre(Pair(0, mean), Pair(1, mean + 1), Pair(2, mean + 2)));
  const auto last = static_cast<float>(world_->size());
  EXPECT_THAT(points.at("time/max"), ElementsAre(Pair(0, last), Pair(1, last), Pair(2, last)));
  EXPECT_THAT(points.at("time/argmax_rank"),
              ElementsAre(Pair(0, last - 1), Pair(1, last - 1), Pair(2, last - 1)));
  EXPECT_THAT(points.at("own"), ElementsAre(Pair(0, 0.0F), Pair(1, 0.0F), Pair(2, 0.0F)));
}

TEST_F(CMpiTest, GivesEachRankASubRun) {
  steptape_writer* const writer = open(STEPTAPE_RANKS_EACH);
  EXPECT_EQ(steptape_add_scalar(writer, "own", world_->rank(), 1), STEPTAPE_OK);
  EXPECT_EQ(steptape_close(writer), STEPTAPE_OK);
  EXPECT_THAT(test::readPoints(run(), rankRunName(world_->rank())).at("own"),
              ElementsAre(Pair(1, static_cast<float>(world_->rank()))));
}

TEST_F(CMpiTest, TellsAllRanksThatTheyDisagree) {
  steptape_writer* const writer = open();
  const std::string tag = world_->rank() == 0 ? "loss" : "lost";
  EXPECT_EQ(steptape_add_reduced(writer, tag.c_str(), 1, 1, nullptr), STEPTAPE_OK);
  const steptape_status status = steptape_reduce(writer, 1);
  if (world_->size() > 1) {
    EXPECT_EQ(status, STEPTAPE_RANK_MISMATCH);
    EXPECT_THAT(steptape_error_message(), HasSubstr("lost"));
  }
  EXPECT_EQ(steptape_close(writer), STEPTAPE_OK);
}

TEST_F(CMpiTest, RefusesAWriterOfOneProcess) {
  steptape_writer* writer = nullptr;
  steptape_open_options options = STEPTAPE_OPEN_OPTIONS_INIT;
  options.disabled = 1;
  ASSERT_EQ(steptape_open(nullptr, &options, &writer), STEPTAPE_OK);
  EXPECT_EQ(steptape_add_reduced(writer, "a", 1, 1, nullptr), STEPTAPE_FAILED_PRECONDITION);
  EXPECT_THAT(steptape_error_message(), HasSubstr("steptape_open_mpi()"));
  EXPECT_EQ(steptape_close(writer), STEPTAPE_OK);
}

TEST_F(CMpiTest, RefusesACommunicatorThatMakesNoSense) {
  steptape_writer* writer = nullptr;
  steptape_communicator communicator = STEPTAPE_COMMUNICATOR_INIT;
  EXPECT_EQ(steptape_open_job("run", nullptr, nullptr, &writer), STEPTAPE_INVALID_ARGUMENT);
  EXPECT_EQ(steptape_open_job("run", nullptr, &communicator, &writer), STEPTAPE_INVALID_ARGUMENT);
  EXPECT_THAT(steptape_error_message(), HasSubstr("no start_gather"));
  communicator = steptape_mpi_communicator(MPI_COMM_WORLD);
  communicator.rank = communicator.ranks;
  EXPECT_EQ(steptape_open_job("run", nullptr, &communicator, &writer), STEPTAPE_INVALID_ARGUMENT);
  EXPECT_THAT(steptape_error_message(), HasSubstr("ranks"));
  communicator = steptape_mpi_communicator(MPI_COMM_WORLD);
  communicator.is_usable = [](void*) { return 0; };
  EXPECT_EQ(steptape_open_job("run", nullptr, &communicator, &writer),
            STEPTAPE_FAILED_PRECONDITION);
  EXPECT_THAT(steptape_error_message(), HasSubstr("MPI_Finalize()"));
}

}  // namespace
}  // namespace steptape
