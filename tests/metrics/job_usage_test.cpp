// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <ctime>
#include <unistd.h>
#include <vector>

#include "steptape/metrics/machine_metrics.h"
#include "steptape/ranks/testing.h"

#include <gtest/gtest.h>

namespace steptape {
namespace {

constexpr double kMebibyte = 1 << 20;

JobUsage usageOfFourRanks() {
  JobUsage usage;
  usage.seconds = 241;
  usage.processorSeconds = 724;
  usage.cores = 4;
  usage.peakBytes = 12185 * kMebibyte;
  usage.largestPeakBytes = 3174 * kMebibyte;
  usage.largestPeakRank = 3;
  usage.memoryLimitBytes = 16384 * kMebibyte;
  return usage;
}

TEST(JobUsage, IsALineAsSchedulersPrintIt) {
  EXPECT_EQ(usageOfFourRanks().text(),
            "0:12:04 of processor time, 75 % of 4 cores for 0:04:01; 3.1 GiB of memory in rank 3, "
            "11.9 GiB in all, 74 % of 16.0 GiB");
}

TEST(JobUsage, LeavesOutWhatIsUnknown) {
  EXPECT_EQ(JobUsage().text(), "");
  JobUsage usage = usageOfFourRanks();
  usage.memoryLimitBytes = JobUsage::kUnknown;
  usage.seconds = JobUsage::kUnknown;
  EXPECT_EQ(usage.text(),
            "0:12:04 of processor time; 3.1 GiB of memory in rank 3, 11.9 GiB in all");
  usage.processorSeconds = JobUsage::kUnknown;
  EXPECT_EQ(usage.text(), "3.1 GiB of memory in rank 3, 11.9 GiB in all");
}

TEST(JobUsage, OfOneRankHasOneMemory) {
  JobUsage usage = usageOfFourRanks();
  usage.processorSeconds = 2;
  usage.seconds = 4;
  usage.cores = 1;
  usage.largestPeakBytes = usage.peakBytes = 120 * kMebibyte;
  usage.memoryLimitBytes = JobUsage::kUnknown;
  EXPECT_EQ(usage.text(), "2.0 s of processor time, 50 % of 1 core for 4.0 s; 120 MiB of memory");
}

TEST(JobUsage, IsWhatTheProcessHasUsed) {
  Communicator alone;
  const JobUsage before = measureJobUsage(alone);
  constexpr std::size_t kBytes = 64 << 20;
  {
    const std::vector<char> memory(kBytes, 1);
    ASSERT_EQ(memory.back(), 1);
  }
  volatile double work = 0;
  const std::clock_t start = std::clock();
  while (std::clock() - start < CLOCKS_PER_SEC / 5) {
    work = work + 1;
  }
  const JobUsage after = measureJobUsage(alone);
  EXPECT_GE(after.processorSeconds - before.processorSeconds, 0.19);
  EXPECT_GE(after.seconds, before.seconds);
  EXPECT_GE(after.peakBytes, static_cast<double>(kBytes));
  EXPECT_GE(after.cores, 1);
  EXPECT_LE(after.cores, static_cast<double>(sysconf(_SC_NPROCESSORS_ONLN)));
}

TEST(JobUsage, CountsTheCoresOfANodeOnceHoweverManyRanksItHas) {
  Communicator alone;
  const JobUsage before = measureJobUsage(alone);
  testing::runRanks(8, [&](Communicator& ranks) {
    const JobUsage usage = measureJobUsage(ranks);
    EXPECT_NEAR(usage.cores, before.cores, 1e-9);
    // The ranks are threads of one process, whose peak grows while they read it one after another.
    EXPECT_GE(usage.peakBytes, 8 * before.peakBytes);
    EXPECT_LE(usage.peakBytes, 8 * usage.largestPeakBytes);
  });
}

TEST(JobUsage, TakesWhatSlurmHasGiven) {
  Communicator alone;
  const bool isLimited = std::isfinite(measureJobUsage(alone).memoryLimitBytes);
  const std::array<std::array<const char*, 2>, 2> given = {
      {{"SLURM_CPUS_ON_NODE", "1"}, {"SLURM_MEM_PER_CPU", "2048"}}};
  for (const auto& variable : given) {
    setenv(variable[0], variable[1], 1);
  }
  const JobUsage byCore = measureJobUsage(alone);
  setenv("SLURM_MEM_PER_NODE", "900", 1);
  const JobUsage byNode = measureJobUsage(alone);
  for (const char* const name : {"SLURM_CPUS_ON_NODE", "SLURM_MEM_PER_CPU", "SLURM_MEM_PER_NODE"}) {
    unsetenv(name);
  }
  EXPECT_EQ(byCore.cores, 1);
  if (isLimited) {
    GTEST_SKIP() << "a control group limits the memory of this process, which comes before Slurm's";
  }
  EXPECT_EQ(byCore.memoryLimitBytes, 2048 * kMebibyte);
  EXPECT_EQ(byNode.memoryLimitBytes, 900 * kMebibyte);
}

}  // namespace
}  // namespace steptape
