// SPDX-License-Identifier: Apache-2.0
#include "steptape/train/recipe.h"

#include <array>
#include <cstdlib>
#include <sched.h>
#include <set>
#include <sys/resource.h>
#include <utility>
#include <vector>

#include "steptape/base/status.h"
#include "steptape/ranks/testing.h"

#include "support/expect_error.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/rand.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/nn/modules/linear.h>
#include <torch/optim/adam.h>

namespace steptape {
namespace {

using ::testing::HasSubstr;

class Threads : public ::testing::Test {
 protected:
  /// Removes the variables of schedulers that may run the test itself.
  void SetUp() override {
    for (const char* variable :
         {"OMP_NUM_THREADS", "SLURM_CPUS_PER_TASK", "SLURM_CPUS_ON_NODE", "SLURM_NTASKS_PER_NODE",
          "PBS_JOBID", "NCPUS", "OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "PALS_LOCAL_SIZE",
          "FLUX_JOB_SIZE", "FLUX_JOB_NNODES", "TORCHELASTIC_RUN_ID", "LOCAL_WORLD_SIZE"}) {
      unsetenv(variable);
    }
  }

  static void environment(const std::vector<std::pair<const char*, const char*>>& variables) {
    for (const auto& [name, value] : variables) {
      setenv(name, value, 1);
    }
  }

  int set(int intraOp) {
    ThreadOptions options;
    options.intraOp = intraOp;
    return setThreads(options, world_);
  }

  ThreadPlan plan() const { return planThreads({}, world_); }

  Communicator world_;
};

TEST_F(Threads, AreSetByTheCaller) {
  setenv("OMP_NUM_THREADS", "3", 1);
  EXPECT_EQ(set(2), 2);
  EXPECT_EQ(at::get_num_threads(), 2);
}

TEST_F(Threads, AreThoseOfOpenMpBeforeThoseOfSlurm) {
  setenv("SLURM_CPUS_PER_TASK", "4", 1);
  EXPECT_EQ(set(0), 4);
  EXPECT_EQ(plan().source, "SLURM_CPUS_PER_TASK");
  setenv("OMP_NUM_THREADS", "3", 1);
  EXPECT_EQ(set(0), 3);
  EXPECT_EQ(plan().source, "OMP_NUM_THREADS");
}

TEST_F(Threads, AreARanksPartOfTheCoresThatSlurmGaveOnTheNode) {
  environment({{"SLURM_CPUS_ON_NODE", "8"}, {"SLURM_NTASKS_PER_NODE", "8"}});
  EXPECT_EQ(plan().intraOp, 1);
  EXPECT_EQ(plan().source, "SLURM_CPUS_ON_NODE for 8 ranks");
  setenv("SLURM_NTASKS_PER_NODE", "100", 1);
  EXPECT_EQ(plan().intraOp, 1) << "at least one";
}

TEST_F(Threads, DivideAPbsChunkAmongItsRanks) {
  environment({{"PBS_JOBID", "17.server"},
               {"NCPUS", "64"},
               {"OMP_NUM_THREADS", "64"},
               {"OMPI_COMM_WORLD_LOCAL_SIZE", "64"}});
  EXPECT_EQ(plan().source, "NCPUS of PBS");
  EXPECT_LT(plan().intraOp, 64);
  setenv("OMP_NUM_THREADS", "3", 1);
  EXPECT_EQ(plan().intraOp, 3) << "which PBS has not set";
}

TEST_F(Threads, DoNotTakeTheOneThatTorchrunSetsForAWish) {
  environment(
      {{"TORCHELASTIC_RUN_ID", "none"}, {"LOCAL_WORLD_SIZE", "2"}, {"OMP_NUM_THREADS", "1"}});
  EXPECT_THAT(plan().source, HasSubstr("cores of the node"));
  setenv("OMP_NUM_THREADS", "3", 1);
  EXPECT_EQ(plan().source, "OMP_NUM_THREADS");
  environment({{"LOCAL_WORLD_SIZE", "1"}, {"OMP_NUM_THREADS", "1"}});
  EXPECT_EQ(plan().source, "OMP_NUM_THREADS") << "torchrun sets it for several ranks only";
}

TEST_F(Threads, IgnoreNcpusOutsideOfPbsJobs) {
  environment({{"NCPUS", "3"}});
  EXPECT_THAT(plan().source, HasSubstr("cores of the node for 1 ranks"));
}

TEST_F(Threads, AreThisRanksPartOfTheCoresByDefault) {
  class ManyRanksOnANode final : public Communicator {
   public:
    int localSize() const override { return 1 << 20; }
  };
  EXPECT_EQ(setThreads({}, ManyRanksOnANode()), 1);
  EXPECT_GE(set(0), 1);
  setenv("OMPI_COMM_WORLD_LOCAL_SIZE", "1048576", 1);
  EXPECT_EQ(set(0), 1) << "of a launcher whose ranks are no Communicator";
}

TEST_F(Threads, DivideTheCoresAmongTheRanksOfPals) {
  setenv("PALS_LOCAL_SIZE", "1048576", 1);
  EXPECT_EQ(plan().intraOp, 1);
  EXPECT_THAT(plan().source, HasSubstr("cores of the node for 1048576 ranks"));
}

TEST_F(Threads, DivideAPbsNodeAmongTheRanksOfPals) {
  environment({{"PBS_JOBID", "17.server"},
               {"NCPUS", "1048576"},
               {"OMP_NUM_THREADS", "1048576"},
               {"PALS_LOCAL_SIZE", "1048576"}});
  EXPECT_EQ(plan().intraOp, 1);
  EXPECT_EQ(plan().source, "NCPUS of PBS");
}

TEST_F(Threads, DivideTheCoresAmongTheRanksOfAFluxNode) {
  environment({{"FLUX_JOB_SIZE", "9"}, {"FLUX_JOB_NNODES", "2"}});
  EXPECT_THAT(plan().source, HasSubstr("cores of the node for 5 ranks"));
  unsetenv("FLUX_JOB_NNODES");
  EXPECT_THAT(plan().source, HasSubstr("cores of the node for 9 ranks"));
}

TEST_F(Threads, CannotBeNegative) {
  test::expectError(ErrorCode::kInvalidArgument, "got -1 threads; expected a positive number",
                    [&] { set(-1); });
}

TEST_F(Threads, NameTheirSource) {
  setenv("SLURM_CPUS_PER_TASK", "4", 1);
  EXPECT_EQ(describeThreads({}, world_),
            "4 threads per operator (SLURM_CPUS_PER_TASK), operators at once as LibTorch has it");
  EXPECT_EQ(describeThreads({1, 2}, world_),
            "1 thread per operator (the caller), at most 2 operators at once");
}

TEST_F(Threads, BetweenOperatorsAreSetOnce) {
  const int now = static_cast<int>(at::get_num_interop_threads());
  setThreads({1, now}, world_);  // the current numbers: nothing to do
  setThreads({1, now + 1}, world_);
  EXPECT_EQ(static_cast<int>(at::get_num_interop_threads()), now + 1);
  test::expectError(
      ErrorCode::kFailedPrecondition,
      "LibTorch takes this number once, before operators do so, and has " + std::to_string(now + 1),
      [&] {
        setThreads({1, now + 2}, world_);
      });
}

TEST(BoundCores, AreListedInRanges) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof(before), &before), 0);
  cpu_set_t one;
  CPU_ZERO(&one);
  int core = 0;
  while (!CPU_ISSET(core, &before)) {
    ++core;
  }
  CPU_SET(core, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
  EXPECT_EQ(boundCores(), std::to_string(core));
  ASSERT_EQ(sched_setaffinity(0, sizeof(before), &before), 0);
}

TEST(DeviceForLocalRank, CyclesThroughTheDevicesOfTheNode) {
  EXPECT_EQ(deviceForLocalRank(0, 4).str(), "cuda:0");
  EXPECT_EQ(deviceForLocalRank(6, 4).str(), "cuda:2");
  EXPECT_EQ(deviceForLocalRank(6, 0).str(), "cpu");
  test::expectError(ErrorCode::kInvalidArgument, "got local rank -1 and 2 devices",
                    [] { deviceForLocalRank(-1, 2); });
}

TEST(Tf32, IsSwitchedForMatrixProductsAndConvolutions) {
  allowTf32(true);
  EXPECT_EQ(describeTf32(), "matrix products on, convolutions on");
  allowTf32(false);
  EXPECT_EQ(describeTf32(), "matrix products off, convolutions off");
}

TEST(RankSeed, DiffersBetweenRanksAndNeighboringSeeds) {
  std::set<std::uint64_t> seeds;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    for (int rank = 0; rank < 20; ++rank) {
      seeds.insert(rankSeed(seed, rank));
    }
  }
  EXPECT_EQ(seeds.size(), 400U);
}

TEST(RankSeed, IsWhatLibTorchDrawsWith) {
  Communicator world;
  EXPECT_EQ(seedRank(1, world), rankSeed(1, 0));
  const at::Tensor first = at::rand({4});
  at::manual_seed(rankSeed(1, 0));
  EXPECT_TRUE(at::equal(at::rand({4}), first));
}

#if defined(__GLIBC__)
long pageFaults() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}

/// Allocates and frees as much memory as a training step of a larger network.
void takeAndFree() {
  constexpr std::size_t kBytes = std::size_t{30} << 20;
  std::vector<std::vector<char>> tensors;
  for (int i = 0; i < 4; ++i) {
    tensors.emplace_back(kBytes, 'x');
  }
}

TEST(KeepFreedMemory, AvoidsPageFaultsInTheNextSteps) {
  ASSERT_TRUE(keepFreedMemory());
  takeAndFree();
  const long before = pageFaults();
  takeAndFree();
  EXPECT_LT(pageFaults() - before, 100);  // of 30,720 pages
}
#endif

/// Returns the value of a row; empty if there is none with this name.
std::string valueOf(const DescriptionRows& rows, const std::string& name) {
  for (const auto& [key, value] : rows) {
    if (key == name) {
      return value;
    }
  }
  return "";
}

std::string schedulerWith(const char* variable, const char* job) {
  setenv(variable, job, 1);
  Communicator world;
  const DescriptionRows rows = describeRun(world);
  unsetenv(variable);
  return valueOf(rows, "scheduler");
}

TEST(RunDescription, NamesTheSchedulerAndTheJob) {
  unsetenv("SLURM_JOB_ID");  // Of a job that runs the test itself.
  EXPECT_EQ(schedulerWith("PBS_JOBID", "17.server"), "PBS job 17.server");
  EXPECT_EQ(schedulerWith("FLUX_JOB_ID", "f3ETxsR9H"), "Flux job f3ETxsR9H");
  EXPECT_EQ(schedulerWith("COBALT_JOBID", "5"), "Cobalt job 5");
}

TEST(RunDescription, NamesTheElementOfAnArrayAndTheRestart) {
  setenv("SLURM_ARRAY_JOB_ID", "50", 1);
  setenv("SLURM_ARRAY_TASK_ID", "3", 1);
  setenv("SLURM_RESTART_COUNT", "1", 1);
  EXPECT_EQ(schedulerWith("SLURM_JOB_ID", "52"), "Slurm job 52, element 3 of array 50, restart 1");
  unsetenv("SLURM_ARRAY_JOB_ID");
  unsetenv("SLURM_ARRAY_TASK_ID");
  unsetenv("SLURM_RESTART_COUNT");
}

TEST(RunDescription, SaysWhichThreadsMpiAndCudaOfferedIt) {
  setenv("MPICH_MAX_THREAD_SAFETY", "multiple", 1);
  setenv("CUDA_VISIBLE_DEVICES", "3", 1);
  Communicator world;
  const DescriptionRows rows = describeRun(world);
  unsetenv("MPICH_MAX_THREAD_SAFETY");
  unsetenv("CUDA_VISIBLE_DEVICES");
  EXPECT_EQ(valueOf(rows, "MPICH_MAX_THREAD_SAFETY"), "multiple");
  EXPECT_EQ(valueOf(rows, "CUDA_VISIBLE_DEVICES"), "3");
}

TEST(RunDescription, SaysWhatTheRunRanOn) {
  setenv("SLURM_JOB_ID", "4711", 1);
  setenv("KMP_BLOCKTIME", "0", 1);
  allowTf32(false);
  at::manual_seed(42);
  Communicator world;
  const DescriptionRows rows = describeRun(world);
  unsetenv("SLURM_JOB_ID");
  unsetenv("KMP_BLOCKTIME");
  EXPECT_EQ(rows.at(0), std::make_pair(std::string("ranks"), std::string("1")));
  EXPECT_EQ(rows.at(1).second, world.nodeName() + " (1 rank)");
  EXPECT_EQ(valueOf(rows, "threads per rank"), std::to_string(at::get_num_threads()));
  EXPECT_EQ(valueOf(rows, "cores bound per rank"), boundCores());
  EXPECT_EQ(valueOf(rows, "random seed per rank"), "42");
  EXPECT_EQ(valueOf(rows, "TF32"), "matrix products off, convolutions off");
  EXPECT_EQ(valueOf(rows, "scheduler"), "Slurm job 4711");
  EXPECT_EQ(valueOf(rows, "KMP_BLOCKTIME"), "0");
  EXPECT_EQ(valueOf(rows, "KMP_AFFINITY"), "") << "which is not set";
}

TEST(RunDescription, IsTheSameOnAllRanksAndNamesWhatDiffers) {
  std::array<DescriptionRows, 3> rows;
  testing::runRanks(3, [&](Communicator& world) {
    rows[static_cast<std::size_t>(world.rank())] = describeRun(world);
  });
  EXPECT_EQ(rows[0], rows[1]);
  EXPECT_EQ(rows[0], rows[2]);
  EXPECT_THAT(valueOf(rows[0], "hosts"), HasSubstr("(3 ranks)"));
}

TEST(RunDescription, EscapesWhatWouldBreakTheTable) {
  EXPECT_EQ(markdownTable({{"path", "a|b"}}), "| name | value |\n|---|---|\n| path | a\\|b |\n");
}

TEST(Recipe, ScalesTheLearningRateOfEveryGroup) {
  torch::nn::Linear model(3, 2);
  torch::optim::Adam optimizer(model->parameters(), torch::optim::AdamOptions(0.25));
  scaleLearningRate(optimizer, 4);
  EXPECT_EQ(learningRateOf(optimizer), 1.0);
  test::expectError(ErrorCode::kInvalidArgument, "scaleLearningRate: got factor 0.0",
                    [&] { scaleLearningRate(optimizer, 0); });
}

}  // namespace
}  // namespace steptape
