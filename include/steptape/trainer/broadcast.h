// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "steptape/base/export.h"
#include "steptape/distributed/communicator.h"

namespace torch::nn {
class Module;
}
namespace torch::optim {
class Optimizer;
}

namespace steptape {

/// Gives every rank the root's parameters and buffers, so that all train the same model.
///
/// Collective: every rank calls it with a module of the same structure.
///
/// @throws Error(kRankMismatch) on every rank if a name, shape or type differs from the root's.
/// @threads Not thread-safe: one thread at a time, the communicator's.
/// @cost   One broadcast per tensor; a tensor that is not contiguous in main memory is copied.
STEPTAPE_EXPORT void broadcastParameters(torch::nn::Module& module, Communicator& world,
                                         int root = 0);

/// Gives every rank the state of the root's optimizer: learning rates, momentum and the like.
///
/// Works for every optimizer that LibTorch can save. Collective.
///
/// @threads Not thread-safe: one thread at a time, the communicator's.
/// @cost   The state is serialised on the root and read back on the others.
STEPTAPE_EXPORT void broadcastOptimizerState(torch::optim::Optimizer& optimizer,
                                             Communicator& world, int root = 0);

/// Proves that all ranks hold the same parameters, bit by bit: what synchronous training guarantees
/// after every step. Buffers are not compared: batch statistics are those of each rank's samples.
///
/// Collective.
///
/// @throws Error(kRankMismatch) on every rank, naming the ranks that differ from the root.
/// @threads Not thread-safe: one thread at a time, the communicator's.
/// @cost   One pass of CRC-32C over the parameters and one allgather of four bytes.
STEPTAPE_EXPORT void checkParametersAreEqual(const torch::nn::Module& module, Communicator& world);

}  // namespace steptape
