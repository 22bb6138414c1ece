// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <limits>
#include <sched.h>
#include <thread>
#include <unistd.h>

#include "steptape/base/status.h"
#include "steptape/train/recipe.h"

#include <ATen/Parallel.h>
#include <c10/util/Exception.h>

namespace steptape {
namespace {

/// Returns the variable as a positive number; 0 if it is not set or not a positive number.
int positiveFromEnvironment(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? 0 : std::max(0, std::atoi(text));
}

/// @return false if the operating system does not report them.
bool coresOf(pid_t process, cpu_set_t& cores) {
  CPU_ZERO(&cores);
  return sched_getaffinity(process, sizeof(cores), &cores) == 0;
}

int countCores(pid_t process) {
  cpu_set_t cores;
  return coresOf(process, cores) ? CPU_COUNT(&cores)
                                 : static_cast<int>(std::thread::hardware_concurrency());
}

constexpr pid_t kThisProcess = 0;

/// Returns the cores of the parent process: a launcher binds the ranks that it starts, not itself,
/// so its cores are those of the job on this node.
int coresOfJobOnNode() {
  return std::max(countCores(kThisProcess), countCores(getppid()));
}

/// Flux states only the ranks and the nodes of the job; of unequal nodes, the fullest counts.
int ranksOnNodeOfFlux() {
  const int nodes = std::max(1, positiveFromEnvironment("FLUX_JOB_NNODES"));
  return (positiveFromEnvironment("FLUX_JOB_SIZE") + nodes - 1) / nodes;
}

int ranksOnNode(const Communicator& world) {
  return std::max({1, world.localSize(), positiveFromEnvironment("OMPI_COMM_WORLD_LOCAL_SIZE"),
                   positiveFromEnvironment("MPI_LOCALNRANKS"),
                   positiveFromEnvironment("PALS_LOCAL_SIZE"), ranksOnNodeOfFlux()});
}

/// Limits threads to 1 … the number of this rank's cores.
int withinBoundCores(int threads) {
  return std::max(1, std::min(threads, countCores(kThisProcess)));
}

int partOfTheCores(const Communicator& world) {
  return withinBoundCores(coresOfJobOnNode() / ranksOnNode(world));
}

/// Returns whether PBS has set OMP_NUM_THREADS: to NCPUS, which is for a whole chunk of ranks if
/// the job requests no `ompthreads`.
bool isSetByPbs(int ompThreads) {
  return std::getenv("PBS_JOBID") != nullptr && positiveFromEnvironment("NCPUS") == ompThreads;
}

/// Returns whether torchrun may have set OMP_NUM_THREADS: it sets 1 if the user has set nothing and
/// it starts several ranks on the node.
bool isSetByTorchrun(int ompThreads) {
  return std::getenv("TORCHELASTIC_RUN_ID") != nullptr && ompThreads == 1 &&
         positiveFromEnvironment("LOCAL_WORLD_SIZE") > 1;
}

ThreadPlan defaultThreads(const Communicator& world) {
  const int ompThreads = positiveFromEnvironment("OMP_NUM_THREADS");
  if (ompThreads > 0 && !isSetByPbs(ompThreads) && !isSetByTorchrun(ompThreads)) {
    return {ompThreads, 0, "OMP_NUM_THREADS"};
  }
  if (const int threads = positiveFromEnvironment("SLURM_CPUS_PER_TASK"); threads > 0) {
    return {threads, 0, "SLURM_CPUS_PER_TASK"};
  }
  if (const int cores = positiveFromEnvironment("SLURM_CPUS_ON_NODE"); cores > 0) {
    const int slurmRanks = positiveFromEnvironment("SLURM_NTASKS_PER_NODE");
    const int ranks = slurmRanks > 0 ? slurmRanks : ranksOnNode(world);
    return {withinBoundCores(cores / ranks), 0,
            "SLURM_CPUS_ON_NODE for " + std::to_string(ranks) + " ranks"};
  }
  const int pbsCores = std::getenv("PBS_JOBID") == nullptr ? 0 : positiveFromEnvironment("NCPUS");
  if (pbsCores > 0) {
    return {std::min(pbsCores, partOfTheCores(world)), 0, "NCPUS of PBS"};
  }
  return {partOfTheCores(world), 0,
          std::to_string(coresOfJobOnNode()) + " cores of the node for " +
              std::to_string(ranksOnNode(world)) + " ranks"};
}

void checkNotNegative(std::int64_t threads) {
  if (threads < 0 || threads > std::numeric_limits<int>::max()) {
    throw Error(ErrorCode::kInvalidArgument,
                "got " + std::to_string(threads) +
                    " threads; expected a positive number, or 0 for the default");
  }
}

void setInterOp(int threads) {
  if (threads == 0 || static_cast<int>(at::get_num_interop_threads()) == threads) {
    return;
  }
  try {
    at::set_num_interop_threads(threads);
  } catch (const c10::Error&) {
    throw Error(ErrorCode::kFailedPrecondition,
                "cannot let " + std::to_string(threads) +
                    " operators run at once: LibTorch takes this number once, before operators do "
                    "so, and has " +
                    std::to_string(at::get_num_interop_threads()));
  }
}

}  // namespace

ThreadPlan planThreads(const ThreadOptions& options, const Communicator& world) {
  checkNotNegative(options.intraOp);
  checkNotNegative(options.interOp);
  ThreadPlan plan = options.intraOp > 0
                        ? ThreadPlan{static_cast<int>(options.intraOp), 0, "the caller"}
                        : defaultThreads(world);
  plan.interOp = static_cast<int>(options.interOp);
  return plan;
}

int setThreads(const ThreadOptions& options, const Communicator& world) {
  const ThreadPlan plan = planThreads(options, world);
  setInterOp(plan.interOp);
  at::set_num_threads(plan.intraOp);
  return plan.intraOp;
}

std::string describeThreads(const ThreadOptions& options, const Communicator& world) {
  const ThreadPlan plan = planThreads(options, world);
  return std::to_string(plan.intraOp) + (plan.intraOp == 1 ? " thread" : " threads") +
         " per operator (" + plan.source + "), " +
         (plan.interOp > 0 ? "at most " + std::to_string(plan.interOp) + " operators at once"
                           : "operators at once as LibTorch has it");
}

std::string boundCores() {
  cpu_set_t cores;
  if (!coresOf(kThisProcess, cores)) {
    return "unknown";
  }
  std::string text;
  for (int first = 0; first < CPU_SETSIZE; ++first) {
    if (!CPU_ISSET(first, &cores)) {
      continue;
    }
    int last = first;
    while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, &cores)) {
      ++last;
    }
    text += (text.empty() ? "" : ",") + std::to_string(first) +
            (last > first ? "-" + std::to_string(last) : "");
    first = last;
  }
  return text;
}

}  // namespace steptape
