// SPDX-License-Identifier: Apache-2.0
#include "steptape/trainer/recipe.h"

#include <cstdlib>

#include "steptape/base/error.h"
#include "steptape/trainer/run_description.h"

#include <ATen/Parallel.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape {
namespace {

using ::testing::HasSubstr;

class Threads : public ::testing::Test {
 protected:
  void SetUp() override {
    unsetenv("OMP_NUM_THREADS");
    unsetenv("SLURM_CPUS_PER_TASK");
  }

  int set(int intraOp) {
    ThreadOptions options;
    options.intraOp = intraOp;
    return setThreads(options, world_);
  }

  Communicator world_;
};

TEST_F(Threads, AreWhatTheCallerSays) {
  setenv("OMP_NUM_THREADS", "3", 1);
  EXPECT_EQ(set(2), 2);
  EXPECT_EQ(at::get_num_threads(), 2);
}

TEST_F(Threads, AreThoseOfOpenMpBeforeThoseOfSlurm) {
  setenv("SLURM_CPUS_PER_TASK", "4", 1);
  EXPECT_EQ(set(0), 4);
  setenv("OMP_NUM_THREADS", "3", 1);
  EXPECT_EQ(set(0), 3);
}

TEST_F(Threads, AreThisRanksPartOfTheCoresByDefault) {
  class ManyRanksOnANode final : public Communicator {
   public:
    int localSize() const override { return 1 << 20; }
  };
  EXPECT_EQ(setThreads({}, ManyRanksOnANode()), 1);
  EXPECT_GE(set(0), 1);
}

TEST_F(Threads, CannotBeNegative) {
  try {
    set(-1);
    FAIL() << "accepted -1 threads";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("got -1 threads, wanted a positive number"));
  }
}

TEST(RunDescription, SaysWhatTheRunRanOn) {
  Communicator world;
  const DescriptionRows rows = describeRun(world);
  EXPECT_EQ(rows.at(0), std::make_pair(std::string("ranks"), std::string("1")));
  EXPECT_EQ(rows.at(1).second, world.nodeName() + " (1 rank)");
}

TEST(RunDescription, EscapesWhatWouldBreakTheTable) {
  EXPECT_EQ(markdownTable({{"path", "a|b"}}), "| name | value |\n|---|---|\n| path | a\\|b |\n");
}

}  // namespace
}  // namespace steptape
