// SPDX-License-Identifier: Apache-2.0
#include "ranks/communicator/launch.h"

#include <functional>
#include <map>
#include <set>
#include <string>

#include "steptape/ranks/environment.h"

#include "support/expect_error.h"

#include <gtest/gtest.h>

namespace steptape {
namespace {

using detail::ranks::Launch;
using detail::ranks::LaunchKind;
using test::expectError;
using Variables = std::map<std::string, std::string>;

/// Looks a variable up; `variables` must outlive the function.
std::function<const char*(const char*)> lookUpIn(const Variables& variables) {
  return [&variables](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  };
}

Launch launchIn(const Variables& variables, bool hasMpi = true, bool hasStore = true) {
  return detail::ranks::findLaunch({hasMpi, hasStore}, lookUpIn(variables));
}

Variables with(Variables variables, const Variables& more) {
  for (const auto& [name, value] : more) {
    variables[name] = value;
  }
  return variables;
}

const Variables kTorchrun = {{"RANK", "1"},
                             {"WORLD_SIZE", "4"},
                             {"MASTER_ADDR", "node7"},
                             {"MASTER_PORT", "29400"},
                             {"TORCHELASTIC_RUN_ID", "none"},
                             {"GROUP_RANK", "0"},
                             {"TORCHELASTIC_USE_AGENT_STORE", "True"}};
const Variables kOpenMpi = {{"OMPI_COMM_WORLD_RANK", "2"}, {"OMPI_COMM_WORLD_SIZE", "3"}};
const Variables kSrun = {{"SLURM_PROCID", "3"},
                         {"SLURM_STEP_NUM_TASKS", "8"},
                         {"SLURM_JOB_ID", "1234567"},
                         {"SLURM_STEP_ID", "2"},
                         {"SLURM_STEP_NODELIST", "gpu[07-12,20],cpu1"}};

TEST(Launch, IsNoneWithoutVariables) {
  EXPECT_EQ(launchIn({}).kind, LaunchKind::kAlone);
  EXPECT_EQ(launchIn({}).size, 1);
}

TEST(Launch, IsFoundOfTorchrun) {
  const Launch launch = launchIn(kTorchrun);
  EXPECT_EQ(launch.kind, LaunchKind::kStore);
  EXPECT_EQ(launch.launcher, "torchrun");
  EXPECT_EQ(launch.rank, 1);
  EXPECT_EQ(launch.size, 4);
  EXPECT_EQ(launch.host, "node7");
  EXPECT_EQ(launch.port, 29400);
  EXPECT_TRUE(launch.isServedByAgent);
}

TEST(Launch, IsFoundOfMpi) {
  const Launch launch = launchIn(kOpenMpi);
  EXPECT_EQ(launch.kind, LaunchKind::kMpi);
  EXPECT_EQ(launch.rank, 2);
  EXPECT_EQ(launch.size, 3);
  EXPECT_EQ(launchIn({{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}}).kind, LaunchKind::kMpi);
  EXPECT_EQ(launchIn({{"PMIX_RANK", "1"}}).kind, LaunchKind::kMpi);
}

TEST(Launch, IsFoundOfSrunWithTheFirstNodeAndAPortOfTheStep) {
  const Launch launch = launchIn(kSrun);
  EXPECT_EQ(launch.kind, LaunchKind::kStore);
  EXPECT_EQ(launch.launcher, "srun");
  EXPECT_EQ(launch.rank, 3);
  EXPECT_EQ(launch.size, 8);
  EXPECT_EQ(launch.host, "gpu07");
  EXPECT_GE(launch.port, 20000);
  EXPECT_LT(launch.port, 30000);
  EXPECT_FALSE(launch.isServedByAgent);
  EXPECT_NE(launch.port, launchIn(with(kSrun, {{"SLURM_STEP_ID", "3"}})).port);
  const Launch chosen = launchIn(with(kSrun, {{"MASTER_ADDR", "head"}, {"MASTER_PORT", "1234"}}));
  EXPECT_EQ(chosen.host, "head");
  EXPECT_EQ(chosen.port, 1234);
  EXPECT_TRUE(chosen.otherPorts.empty());
}

TEST(Launch, OfSrunTriesOtherPortsThanThoseOfNeighboringJobs) {
  const Launch launch = launchIn(kSrun);
  std::set<int> ports(launch.otherPorts.begin(), launch.otherPorts.end());
  ports.insert(launch.port);
  EXPECT_EQ(ports.size(), launch.otherPorts.size() + 1);
  EXPECT_GE(ports.size(), 8U);
  EXPECT_GE(*ports.begin(), 20000);
  EXPECT_LT(*ports.rbegin(), 30000);
  // Step 7 of a job begins at the same port as step 0 of the next one.
  const Launch next = launchIn(with(kSrun, {{"SLURM_JOB_ID", "1234568"}, {"SLURM_STEP_ID", "0"}}));
  const Launch seventh = launchIn(with(kSrun, {{"SLURM_STEP_ID", "7"}}));
  EXPECT_EQ(seventh.port, next.port);
  EXPECT_FALSE(detail::process::canBeOfOneJob(seventh.job, next.job));
}

TEST(Launch, KnowsItsJobAndOfSrunItsStep) {
  EXPECT_EQ(launchIn(kSrun).job.job, "job 1234567 of Slurm");
  EXPECT_EQ(launchIn(kSrun).job.step, "2");
  // Agents of torchrun may each be in a step of their own.
  EXPECT_EQ(launchIn(with(kTorchrun, kSrun)).job.step, "");
}

TEST(Launch, OfSrunIsByMpiIfMpiIsTold) {
  EXPECT_EQ(launchIn(with(kSrun, {{"PMIX_RANK", "3"}})).kind, LaunchKind::kMpi);
  EXPECT_EQ(launchIn(with(kSrun, {{"PMIX_RANK", "3"}}), /*hasMpi=*/false).kind, LaunchKind::kStore);
}

TEST(Launch, OfTorchrunHidesTheStepThatStartedItsAgents) {
  EXPECT_EQ(launchIn(with(kTorchrun, kSrun)).launcher, "torchrun");
}

TEST(Launch, OfTorchrunHidesTheMpiThatStartedItsAgents) {
  const Variables agents = {{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "2"}};
  EXPECT_EQ(launchIn(with(kTorchrun, agents)).launcher, "torchrun");
}

TEST(Launch, IsByMpiIfTheVariablesOfBothAgree) {
  const Variables agreeing = {{"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "4"}};
  Variables byHand = with(kTorchrun, agreeing);
  byHand.erase("TORCHELASTIC_RUN_ID");
  EXPECT_EQ(launchIn(byHand).kind, LaunchKind::kMpi);
  EXPECT_EQ(launchIn(byHand, /*hasMpi=*/false).kind, LaunchKind::kStore);
}

TEST(Launch, ByTwoLaunchersIsRefused) {
  expectError(ErrorCode::kFailedPrecondition,
              "two launchers have started this process: OMPI_COMM_WORLD_RANK is 2 and torchrun "
              "says rank 1 of 4; set STEPTAPE_LAUNCHER to mpi or torchrun",
              [] { launchIn(with(kTorchrun, kOpenMpi)); });
  EXPECT_EQ(launchIn(with(with(kTorchrun, kOpenMpi), {{"STEPTAPE_LAUNCHER", "mpi"}})).kind,
            LaunchKind::kMpi);
  EXPECT_EQ(launchIn(with(with(kTorchrun, kOpenMpi), {{"STEPTAPE_LAUNCHER", "torchrun"}})).rank, 1);
  EXPECT_EQ(launchIn(with(kTorchrun, {{"STEPTAPE_LAUNCHER", "none"}})).kind, LaunchKind::kAlone);
}

TEST(Launch, WithVariablesThatAreMissingIsRefused) {
  Variables half = kTorchrun;
  half.erase("MASTER_ADDR");
  half.erase("MASTER_PORT");
  expectError(ErrorCode::kFailedPrecondition,
              "the environment tells only a part of a launch: RANK, WORLD_SIZE are set, and "
              "MASTER_ADDR, MASTER_PORT are not",
              [&] { launchIn(half); });
  expectError(
      ErrorCode::kFailedPrecondition,
      "only a part of a launch: MASTER_ADDR is set, and RANK, WORLD_SIZE, MASTER_PORT are not", [] {
        launchIn({{"MASTER_ADDR", "node7"}});
      });
}

TEST(Launch, WithAnImpossibleValueIsRefused) {
  const auto refuses = [](const Variables& change, const std::string& why) {
    expectError(ErrorCode::kInvalidArgument, why, [&] { launchIn(with(kTorchrun, change)); });
  };
  refuses(
      {{"RANK", "4"}},
      "got the environment variable RANK=4; expected a number from 0 to 3, since WORLD_SIZE is 4");
  refuses({{"RANK", "-1"}}, "RANK=-1; expected a number from 0 to 3");
  refuses({{"WORLD_SIZE", "0"}}, "WORLD_SIZE=0; expected a number from 1 to ");
  refuses({{"WORLD_SIZE", "two"}}, "WORLD_SIZE=two; expected a number");
  refuses({{"MASTER_PORT", "70000"}}, "MASTER_PORT=70000; expected a number from 1 to 65535");
  refuses({{"STEPTAPE_LAUNCHER", "mpirun"}},
          "STEPTAPE_LAUNCHER=mpirun; expected mpi, torchrun, srun or none");
}

std::string foreignLauncherIn(const Variables& variables, const std::string& library, int size) {
  return detail::ranks::foreignLauncherBecause({library, size}, lookUpIn(variables));
}

constexpr const char* kOpenMpiLibrary = "Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4";
constexpr const char* kMpichLibrary = "MPICH Version:\t4.0.2\nMPICH Release date:\tThu Apr  7";
constexpr const char* kIntelLibrary = "Intel(R) MPI Library 2021.19.0 for Linux* OS\n";
const Variables kHydra = {{"PMI_RANK", "1"}, {"PMI_SIZE", "3"}};
const Variables kPmix = {{"PMIX_RANK", "3"}};

TEST(ForeignLauncher, IsNamedWithTheLibraryThatSeesOneRankAndWhatToUse) {
  EXPECT_EQ(
      foreignLauncherIn(kOpenMpi, kMpichLibrary, 1),
      "got rank 2 of 3 of Open MPI's mpiexec (OMPI_COMM_WORLD_SIZE=3), and a world of 1 rank of "
      "MPICH 4.0.2, the MPI of this program; expected its own mpiexec, or srun --mpi=pmi2. "
      "STEPTAPE_LAUNCHER=none makes each process a job of its own");
}

TEST(ForeignLauncher, IsFoundInEveryPairOfMpis) {
  for (const char* const library : {kMpichLibrary, kIntelLibrary}) {
    EXPECT_NE(foreignLauncherIn(kOpenMpi, library, 1), "") << library;
    EXPECT_EQ(foreignLauncherIn(kHydra, library, 3), "") << library;
  }
  EXPECT_NE(foreignLauncherIn(kHydra, kOpenMpiLibrary, 1), "");
  EXPECT_EQ(foreignLauncherIn(kOpenMpi, kOpenMpiLibrary, 3), "");
  EXPECT_NE(foreignLauncherIn(kHydra, "Some MPI 1.0", 1), "");
}

TEST(ForeignLauncher, IsSrunWithThePluginOfAnotherMpi) {
  EXPECT_NE(foreignLauncherIn(with(kSrun, kPmix), kMpichLibrary, 1), "");
  EXPECT_EQ(foreignLauncherIn(with(kSrun, kPmix), kOpenMpiLibrary, 8), "");
  EXPECT_NE(foreignLauncherIn(kSrun, kMpichLibrary, 1), "");
}

TEST(ForeignLauncher, IsNotOneThatRunsAroundTheLibrarysOwn) {
  // A launcher within a rank of another one, or within a step of Slurm.
  EXPECT_EQ(
      foreignLauncherIn(with(kOpenMpi, {{"PMI_RANK", "0"}, {"PMI_SIZE", "1"}}), kMpichLibrary, 1),
      "");
  EXPECT_EQ(foreignLauncherIn(with(kSrun, kOpenMpi), kOpenMpiLibrary, 3), "");
  EXPECT_EQ(foreignLauncherIn(with(kSrun, kHydra), kMpichLibrary, 3), "");
}

TEST(ForeignLauncher, IsAcceptedByChoice) {
  EXPECT_EQ(foreignLauncherIn(with(kHydra, {{"STEPTAPE_LAUNCHER", "none"}}), kOpenMpiLibrary, 1),
            "");
  EXPECT_EQ(foreignLauncherIn({}, kOpenMpiLibrary, 1), "");
}

TEST(MpiLibrary, HasAShortName) {
  EXPECT_EQ(detail::ranks::nameOfMpiLibrary(kOpenMpiLibrary), "Open MPI v4.1.4");
  EXPECT_EQ(detail::ranks::nameOfMpiLibrary(kMpichLibrary), "MPICH 4.0.2");
  EXPECT_EQ(detail::ranks::nameOfMpiLibrary("MPICH Version:      5.0.2\n"), "MPICH 5.0.2");
  EXPECT_EQ(detail::ranks::nameOfMpiLibrary(kIntelLibrary),
            "Intel(R) MPI Library 2021.19.0 for Linux* OS");
}

std::string aloneIn(const Variables& variables) {
  return detail::ranks::aloneInAllocation(lookUpIn(variables));
}

TEST(Launch, OfOneProcessInAnAllocationOfSeveralTasksIsWarnedOf) {
  // A batch script has a rank of its own, but no step.
  const Variables batch = {{"SLURM_JOB_ID", "70"}, {"SLURM_NTASKS", "4"}, {"SLURM_PROCID", "0"}};
  EXPECT_EQ(aloneIn(batch),
            "job 70 of Slurm is for 4 tasks, and this process runs alone: srun or mpiexec starts "
            "the others. STEPTAPE_LAUNCHER=none says that it is meant so");
  EXPECT_EQ(aloneIn(with(batch, {{"SLURM_NTASKS", "1"}})), "");
  EXPECT_EQ(aloneIn(with(batch, {{"STEPTAPE_LAUNCHER", "none"}})), "");
  EXPECT_EQ(aloneIn(with(batch, kOpenMpi)), "");
  EXPECT_EQ(aloneIn(with(batch, kTorchrun)), "");
  EXPECT_EQ(aloneIn(with(batch, {{"SLURM_STEP_NUM_TASKS", "4"}})), "");
}

TEST(Launch, OfOpenMpiBySrunWithoutPmixIsNotedByTheFirstRank) {
  const auto noteIn = [](const Variables& variables, const char* library) {
    return detail::ranks::missingPmixNote(library, lookUpIn(variables));
  };
  const Variables pmi2 = {{"SLURM_PROCID", "0"},
                          {"SLURM_STEP_NUM_TASKS", "2"},
                          {"SLURM_MPI_TYPE", "pmi2"},
                          {"PMI_RANK", "0"},
                          {"PMI_SIZE", "2"}};
  EXPECT_EQ(noteIn(pmi2, kOpenMpiLibrary),
            "Open MPI v4.1.4 under srun --mpi=pmi2: if MPI_Init() ends this job, start it by srun "
            "--mpi=pmix, or, with steptape::c10d, set STEPTAPE_LAUNCHER=srun");
  EXPECT_EQ(noteIn(pmi2, kMpichLibrary), "");
  EXPECT_EQ(noteIn(with(pmi2, {{"SLURM_PROCID", "1"}}), kOpenMpiLibrary), "");
  EXPECT_EQ(noteIn(with(pmi2, {{"PMIX_RANK", "0"}}), kOpenMpiLibrary), "");
  EXPECT_EQ(noteIn(with(pmi2, kOpenMpi), kOpenMpiLibrary), "");
  EXPECT_EQ(noteIn({}, kOpenMpiLibrary), "");
}

TEST(Launch, FindsTheFirstHostOfAList) {
  EXPECT_EQ(detail::ranks::firstHostOf("node7"), "node7");
  EXPECT_EQ(detail::ranks::firstHostOf("node7,node8"), "node7");
  EXPECT_EQ(detail::ranks::firstHostOf("node[07-12,20],other"), "node07");
  EXPECT_EQ(detail::ranks::firstHostOf("rack[2]node[5,9]-ib"), "rack2node5-ib");
  EXPECT_EQ(detail::ranks::firstHostOf(""), "");
}

TEST(Environment, OfAProcessThatNoLauncherHasStartedIsAJobOfOneRank) {
  expectError(ErrorCode::kFailedPrecondition, "world: no steptape::Environment is alive",
              [] { world(); });
  const Environment environment;
  EXPECT_EQ(world()->size(), 1);
  EXPECT_EQ(environment.describe(), "one rank, without a launcher");
  expectError(ErrorCode::kFailedPrecondition, "Environment: another one is alive",
              [] { Environment second; });
}

TEST(Environment, NamesTheComponentThatTheProgramLacks) {
  for (const auto& [name, value] : kTorchrun) {
    setenv(name.c_str(), value.c_str(), 1);
  }
  expectError(ErrorCode::kFailedPrecondition,
              "Environment: torchrun has started this process as rank 1 of 4, and the program does "
              "not include <steptape/c10d.h>; expected it, and a link to steptape::c10d",
              [] { Environment environment; });
  for (const auto& [name, value] : kTorchrun) {
    unsetenv(name.c_str());
  }
}

}  // namespace
}  // namespace steptape
