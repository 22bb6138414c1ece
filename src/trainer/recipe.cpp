// SPDX-License-Identifier: Apache-2.0
#include "steptape/trainer/recipe.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <sched.h>
#include <string>
#include <thread>
#include <unistd.h>

#include "steptape/base/error.h"

#include <ATen/Parallel.h>
#include <torch/optim/optimizer.h>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace steptape {
namespace {

/// The variable as a positive number; 0 if it is not set or is none.
int positiveFromEnvironment(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? 0 : std::max(0, std::atoi(text));
}

/// Cores that this process may run on: fewer than the node's where a launcher binds ranks to cores.
int boundCores() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  if (sched_getaffinity(0, sizeof(cores), &cores) != 0) {
    return static_cast<int>(std::thread::hardware_concurrency());
  }
  return CPU_COUNT(&cores);
}

int defaultThreads(const Communicator& world) {
  for (const char* name : {"OMP_NUM_THREADS", "SLURM_CPUS_PER_TASK"}) {
    if (const int threads = positiveFromEnvironment(name); threads > 0) {
      return threads;
    }
  }
  const long nodeCores = sysconf(_SC_NPROCESSORS_ONLN);
  const int share = static_cast<int>(nodeCores) / std::max(1, world.localSize());
  return std::max(1, std::min(boundCores(), share));
}

}  // namespace

void scaleLearningRate(torch::optim::Optimizer& optimizer, double factor) {
  if (!(factor > 0)) {
    throw Error(
        ErrorCode::kInvalidArgument,
        "cannot scale a learning rate by " + std::to_string(factor) + ", wanted a positive factor");
  }
  for (torch::optim::OptimizerParamGroup& group : optimizer.param_groups()) {
    group.options().set_lr(group.options().get_lr() * factor);
  }
}

double learningRateOf(const torch::optim::Optimizer& optimizer) {
  const auto& groups = optimizer.param_groups();
  return groups.empty() ? std::numeric_limits<double>::quiet_NaN()
                        : groups.front().options().get_lr();
}

int setThreads(const ThreadOptions& options, const Communicator& world) {
  if (options.intraOp < 0) {
    throw Error(ErrorCode::kInvalidArgument, "got " + std::to_string(options.intraOp) +
                                                 " threads, wanted a positive number, or 0 for "
                                                 "this rank's part of the cores");
  }
  const int threads = options.intraOp > 0 ? options.intraOp : defaultThreads(world);
  at::set_num_threads(threads);
  return threads;
}

bool keepFreedMemory() {
#if defined(__GLIBC__)
  constexpr int kLargestMmapThreshold = 32 << 20;  // glibc refuses more
  constexpr int kKept = 512 << 20;
  return mallopt(M_MMAP_THRESHOLD, kLargestMmapThreshold) == 1 &&
         mallopt(M_TRIM_THRESHOLD, kKept) == 1;
#else
  return false;
#endif
}

}  // namespace steptape
