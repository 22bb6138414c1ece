// SPDX-License-Identifier: Apache-2.0
// Control groups of both versions, by MachineSampler.

#include <chrono>

#include "steptape/process/machine_sampler.h"

#include "process/machine/fake_system.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape {
namespace {

using ::testing::IsNan;

class ControlGroups : public ::testing::Test {
 protected:
  MachineSample sample() { return MachineSampler(system_.options()).sample(); }

  void writeGroup(const std::string& file, const std::string& text) {
    system_.write("sys/fs/cgroup/" + file, text);
  }

  test::FakeSystem system_;
};

TEST_F(ControlGroups, HaveTheStrictestLimitOfTheGroupsAround) {
  system_.write("proc/self/cgroup", "0::/slurm/job_7/step_0\n");
  writeGroup("slurm/job_7/step_0/memory.max", "max\n");
  writeGroup("slurm/job_7/step_0/memory.current", "10\n");
  writeGroup("slurm/job_7/memory.max", "4000\n");
  writeGroup("slurm/job_7/memory.current", "1500\n");
  writeGroup("slurm/memory.max", "9000\n");
  writeGroup("slurm/memory.current", "1700\n");
  EXPECT_EQ(sample().groupMemoryLimitBytes, 4000);
  EXPECT_EQ(sample().groupMemoryBytes, 1500);
}

TEST_F(ControlGroups, OfVersion1AreRead) {
  system_.write("proc/self/cgroup",
                "5:cpu,cpuacct:/docker\n4:memory:/docker/abc\n0::/docker/abc\n");
  writeGroup("memory/docker/abc/memory.limit_in_bytes", "2000\n");
  writeGroup("memory/docker/abc/memory.usage_in_bytes", "700\n");
  writeGroup("memory/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(sample().groupMemoryLimitBytes, 2000);
  EXPECT_EQ(sample().groupMemoryBytes, 700);
}

TEST_F(ControlGroups, OfAContainerAreReadWhereThePathIsThatOfTheHost) {
  system_.write("proc/self/cgroup", "4:memory:/docker/abc\n");
  writeGroup("memory/memory.limit_in_bytes", "2000\n");
  writeGroup("memory/memory.usage_in_bytes", "700\n");
  EXPECT_EQ(sample().groupMemoryBytes, 700);
}

TEST_F(ControlGroups, OfVersion2AreReadNextToVersion1) {
  system_.write("proc/self/cgroup", "1:devices:/\n0::/job\n");
  writeGroup("unified/job/memory.max", "2000\n");
  writeGroup("unified/job/memory.current", "700\n");
  EXPECT_EQ(sample().groupMemoryBytes, 700);
}

TEST_F(ControlGroups, WithoutALimitAreLeftOut) {
  system_.write("proc/self/cgroup", "4:memory:/user\n0::/user\n");
  writeGroup("memory/user/memory.limit_in_bytes", "9223372036854771712\n");
  writeGroup("memory/user/memory.usage_in_bytes", "700\n");
  writeGroup("cpu.max", "max 100000\n");
  writeGroup("cpu.stat", "nr_periods 10\nnr_throttled 5\n");
  EXPECT_THAT(sample().groupMemoryBytes, IsNan());
  EXPECT_THAT(sample().groupMemoryLimitBytes, IsNan());
  EXPECT_THAT(sample().groupThrottledPercent, IsNan());
}

TEST_F(ControlGroups, TellTheShareOfPeriodsInWhichTheyWereStopped) {
  system_.write("proc/self/cgroup", "0::/job\n");
  writeGroup("job/cpu.max", "200000 100000\n");
  writeGroup("job/cpu.stat", "usage_usec 7\nnr_periods 100\nnr_throttled 10\n");
  MachineSampler sampler(system_.options());
  sampler.sample();
  writeGroup("job/cpu.stat", "usage_usec 7\nnr_periods 140\nnr_throttled 20\n");
  system_.pass(std::chrono::seconds(1));
  EXPECT_EQ(sampler.sample().groupThrottledPercent, 25);
  system_.pass(std::chrono::seconds(1));
  EXPECT_THAT(sampler.sample().groupThrottledPercent, IsNan());  // no period passed
}

TEST_F(ControlGroups, OfVersion1TellTheShareOfPeriodsToo) {
  system_.write("proc/self/cgroup", "5:cpuacct,cpu:/docker\n");
  writeGroup("cpu/docker/cpu.cfs_quota_us", "-1\n");
  writeGroup("cpu/cpu.cfs_quota_us", "50000\n");
  writeGroup("cpu/cpu.stat", "nr_periods 0\nnr_throttled 0\nthrottled_time 0\n");
  MachineSampler sampler(system_.options());
  sampler.sample();
  writeGroup("cpu/cpu.stat", "nr_periods 4\nnr_throttled 4\nthrottled_time 9\n");
  EXPECT_EQ(sampler.sample().groupThrottledPercent, 100);
}

TEST_F(ControlGroups, ThatDisappearAreUnknown) {
  system_.write("proc/self/cgroup", "0::/job\n");
  writeGroup("job/memory.max", "4000\n");
  writeGroup("job/memory.current", "1500\n");
  MachineSampler sampler(system_.options());
  EXPECT_EQ(sampler.sample().groupMemoryBytes, 1500);
  std::filesystem::remove_all(system_.options().sysDirectory);
  EXPECT_THAT(sampler.sample().groupMemoryBytes, IsNan());
}

}  // namespace
}  // namespace steptape
