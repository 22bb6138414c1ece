// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "steptape/base/export.h"
#include "steptape/comm/communicator.h"

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
/// @cost   One broadcast per MiB, and one per tensor larger than that; smaller tensors, and those
///         that are not contiguous in main memory, are copied.
STEPTAPE_EXPORT void broadcastParameters(torch::nn::Module& module, Communicator& world,
                                         int root = 0);

/// Gives every rank the state of the root's optimizer: learning rates, momentum and the like.
///
/// Works for every optimizer of LibTorch, and for others that override save() and load(). State
/// that the root does not have yet, as before its first step, is forgotten on the others. The
/// root's optimizer is not changed. Collective.
///
/// @throws Error(kRankMismatch) on every rank, naming the first rank whose kind of optimizer,
///         groups or parameters differ from the root's; Error(kInvalidArgument) on every rank, with
///         the words of LibTorch, if the state cannot be saved or loaded.
/// @threads Not thread-safe: one thread at a time, the communicator's.
/// @cost   The state is serialized on the root and read back on the others.
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

/// What averageParameters() averages. The same on every rank.
struct AverageOptions {
  /// Buffers of floating-point numbers, such as the running statistics of BatchNorm, too. Counters
  /// and the like stay as they are.
  bool buffers = true;
};

/// Replaces every parameter by its mean over the ranks, for training in which the ranks make steps
/// of their own and meet now and then (local SGD).
///
/// float16 and bfloat16 are added up in float32. The result is the same to the bit on every rank.
/// The optimizers' states stay those of each rank.
///
/// Collective: every rank calls it with a module of the same structure.
///
/// @throws Error(kRankMismatch) on every rank if a name, shape or type differs from the root's;
///         Error(kInvalidArgument) naming a parameter that has no floating-point type.
/// @threads Not thread-safe: one thread at a time, the communicator's.
/// @cost   One allreduce per type and 16 MiB; a tensor that is not contiguous in main memory is
///         copied.
/// @source Stich, "Local SGD Converges Fast and Communicates Little", arXiv:1805.09767.
STEPTAPE_EXPORT void averageParameters(torch::nn::Module& module, Communicator& world,
                                       const AverageOptions& options = {});

}  // namespace steptape
