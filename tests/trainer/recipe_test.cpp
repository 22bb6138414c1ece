// SPDX-License-Identifier: Apache-2.0
#include "steptape/trainer/recipe.h"

#include <cstdlib>
#include <sys/resource.h>
#include <vector>

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

#if defined(__GLIBC__)
long pageFaults() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}

/// Takes and frees as much as a training step of a larger network does.
void takeAndFree() {
  constexpr std::size_t kBytes = std::size_t{30} << 20;
  std::vector<std::vector<char>> tensors;
  for (int i = 0; i < 4; ++i) {
    tensors.emplace_back(kBytes, 'x');
  }
}

TEST(KeepFreedMemory, SparesTheNextStepsThePageFaults) {
  ASSERT_TRUE(keepFreedMemory());
  takeAndFree();
  const long before = pageFaults();
  takeAndFree();
  EXPECT_LT(pageFaults() - before, 100);  // of 30,720 pages
}
#endif

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
