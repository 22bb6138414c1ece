// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>
#include <string>

#include "steptape/ranks/testing.h"

#include "process/blackbox/process_facts.h"

#include <gtest/gtest.h>

namespace steptape::detail::process {
namespace {

/// A /proc and a /sys.
class MeasureMemoryTest : public ::testing::Test {
 protected:
  void write(const std::string& path, const std::string& text) const {
    const std::filesystem::path file = directory_.path() / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }

  /// A group of version 1.
  void writeGroup(const std::string& path, const std::string& limit, const std::string& usage,
                  int kills) const {
    const std::string group = "sys/fs/cgroup/memory" + path;
    write(group + "/memory.limit_in_bytes", limit + "\n");
    write(group + "/memory.usage_in_bytes", usage + "\n");
    write(group + "/memory.oom_control",
          "oom_kill_disable 0\nunder_oom 0\noom_kill " + std::to_string(kills) + "\n");
  }

  MemoryUse measure() const {
    return measureMemory(base::ControlGroupDirectories::find(
        "memory", directory_.string() + "/proc", directory_.string() + "/sys"));
  }

  static constexpr const char* kNoLimit = "9223372036854771712";
  const testing::TempDir directory_;
};

TEST_F(MeasureMemoryTest, UnderSlurmIsThatOfTheJobAndOfAllItsTasks) {
  // As slurmd 22.05 makes them with ConstrainRAMSpace and control groups of version 1.
  write("proc/self/cgroup", "4:memory:/slurm/uid_0/job_55/step_0/task_0\n0::/\n");
  writeGroup("", kNoLimit, "5000", 3);
  writeGroup("/slurm/uid_0/job_55", "943718400", "900000000", 0);
  writeGroup("/slurm/uid_0/job_55/step_0", "943718400", "890000000", 0);
  writeGroup("/slurm/uid_0/job_55/step_0/task_0", kNoLimit, "410000000", 0);
  writeGroup("/slurm/uid_0/job_55/step_0/task_1", kNoLimit, "480000000", 1);
  const MemoryUse use = measure();
  EXPECT_EQ(use.cgroupLimit, 943718400);
  EXPECT_EQ(use.cgroupBytes, 900000000);
  EXPECT_EQ(use.oomKills, 1);
}

TEST_F(MeasureMemoryTest, CountsKillsInGroupsOfEveryDepthAndNotThoseOfUnlimitedNeighbors) {
  write("proc/self/cgroup", "4:memory:/job_55/step_0/task_0\n");
  writeGroup("", kNoLimit, "5000", 3);
  writeGroup("/job_55", "943718400", "900000000", 2);
  writeGroup("/job_55/step_0/task_0/container", kNoLimit, "1", 5);
  for (int task = 0; task < 60; ++task) {  // more than one system call lists
    writeGroup("/job_55/step_0/task_" + std::to_string(task), kNoLimit, "1", 10);
  }
  writeGroup("/job_56/step_0", kNoLimit, "1", 7);
  EXPECT_EQ(measure().oomKills, 2 + 5 + 60 * 10);
}

TEST_F(MeasureMemoryTest, DoesNotKnowKillsThatNoFileCounts) {
  write("proc/self/cgroup", "4:memory:/job_55\n");
  write("sys/fs/cgroup/memory/job_55/memory.limit_in_bytes", "943718400\n");
  write("sys/fs/cgroup/memory/job_55/memory.usage_in_bytes", "9000\n");
  EXPECT_EQ(measure().oomKills, -1);
}

TEST_F(MeasureMemoryTest, IsThatOfTheGroupWithTheLowestLimit) {
  write("proc/self/cgroup", "0::/job_7/task\n");
  write("sys/fs/cgroup/job_7/memory.max", "2000\n");
  write("sys/fs/cgroup/job_7/memory.current", "1900\n");
  write("sys/fs/cgroup/job_7/memory.events", "low 0\noom 5\noom_kill 2\n");
  write("sys/fs/cgroup/job_7/task/memory.max", "max\n");
  write("sys/fs/cgroup/job_7/task/memory.current", "700\n");
  write("sys/fs/cgroup/job_7/task/memory.events", "low 0\noom 0\noom_kill 0\n");
  const MemoryUse use = measure();
  EXPECT_EQ(use.cgroupLimit, 2000);
  EXPECT_EQ(use.cgroupBytes, 1900);
  EXPECT_EQ(use.oomKills, 2);
}

TEST_F(MeasureMemoryTest, WithoutALimitIsThatOfTheProcessesOwnGroup) {
  write("proc/self/cgroup", "4:memory:/user/shell\n");
  writeGroup("", kNoLimit, "5000", 3);
  writeGroup("/user/shell", kNoLimit, "700", 1);
  writeGroup("/user/shell/other", kNoLimit, "300", 4);
  const MemoryUse use = measure();
  EXPECT_EQ(use.cgroupLimit, -1);
  EXPECT_EQ(use.cgroupBytes, 700);
  EXPECT_EQ(use.oomKills, 1);
}

TEST_F(MeasureMemoryTest, InAContainerIsThatOfTheGroupThatIsMounted) {
  write("proc/self/cgroup", "4:memory:/docker/1234\n");
  writeGroup("", "3000", "2000", 0);
  EXPECT_EQ(measure().cgroupLimit, 3000);
  EXPECT_EQ(measure().cgroupBytes, 2000);
}

TEST_F(MeasureMemoryTest, WithoutControlGroupsIsUnknown) {
  const MemoryUse use = measure();
  EXPECT_EQ(use.cgroupLimit, -1);
  EXPECT_EQ(use.cgroupBytes, -1);
  EXPECT_EQ(use.oomKills, -1);
}

}  // namespace
}  // namespace steptape::detail::process
