// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "steptape/base/export.h"
#include "steptape/distributed/communicator.h"

namespace torch::optim {
class Optimizer;
}

namespace steptape {

/// Multiplies the learning rate of every parameter group.
///
/// With `factor` = the number of ranks this is the linear scaling rule: a batch that is `size`
/// times as large takes steps that are `size` times as long.
///
/// @throws Error(kInvalidArgument) if `factor` is not positive.
/// @threads Not thread-safe: one thread at a time.
/// @source Goyal et al., "Accurate, Large Minibatch SGD", arXiv:1706.02677, section 2.1.
STEPTAPE_EXPORT void scaleLearningRate(torch::optim::Optimizer& optimizer, double factor);

/// The learning rate of the first parameter group; NaN if there is none.
STEPTAPE_EXPORT double learningRateOf(const torch::optim::Optimizer& optimizer);

/// How many threads LibTorch works with.
struct ThreadOptions {
  /// Threads inside one operator. 0: `OMP_NUM_THREADS` if that is set, else `SLURM_CPUS_PER_TASK`,
  /// else this rank's part of the node's cores: as many as it is bound to, and no more than cores
  /// divided by ranks on the node.
  int intraOp = 0;
};

/// Sets the number of threads of this rank's LibTorch.
///
/// More threads than cores on a node slow every rank down; LibTorch alone starts one per core in
/// each rank. Call it before the first tensor operation.
///
/// @return the number set.
/// @throws Error(kInvalidArgument) if `options.intraOp` is negative.
STEPTAPE_EXPORT int setThreads(const ThreadOptions& options, const Communicator& world);

/// Makes the C library's malloc keep what is freed, up to 512 MiB, for what comes next.
///
/// Every training step frees the activations and gradients of the one before and takes as much again. By
/// default glibc gives such memory back to the system each time, and each page of it costs a page
/// fault in the next step.
///
/// @return false where the C library has no such switch; nothing is changed then.
/// @threads Call it before other threads run. For the whole process.
/// @source mallopt(3): M_MMAP_THRESHOLD, M_TRIM_THRESHOLD.
STEPTAPE_EXPORT bool keepFreedMemory();

}  // namespace steptape
