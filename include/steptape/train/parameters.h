// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "steptape/base/export.h"
#include "steptape/ranks/communicator.h"

namespace torch::nn {
class Module;
}
namespace torch::optim {
class Optimizer;
}

namespace steptape {

/// Copies the root's parameters and buffers to every rank, so that all train the same model.
///
/// Collective: every rank calls it with a module of the same structure.
///
/// @throws Error(kRankMismatch) on every rank if a name, shape or type differs from the root's.
/// @threads Not thread-safe: only the communicator's thread, one at a time.
/// @cost   One broadcast per MiB, and one per tensor larger than that. Smaller tensors, and tensors
///         that are not contiguous in main memory, are copied.
STEPTAPE_EXPORT void broadcastParameters(torch::nn::Module& module, Communicator& world,
                                         int root = 0);

/// Copies the state of the root's optimizer to every rank: learning rates, momentum and so on.
///
/// Works for every optimizer of LibTorch, and for others that override save() and load(). State
/// that the root does not have, as before its first step, is discarded on the other ranks. The
/// root's optimizer is unchanged. Collective.
///
/// @throws Error(kRankMismatch) on every rank, naming the first rank whose optimizer class, groups
///         or parameters differ from the root's; Error(kInvalidArgument) on every rank, with
///         LibTorch's message, if the state cannot be saved or loaded.
/// @threads Not thread-safe: only the communicator's thread, one at a time.
/// @cost   The root serializes the state, and the other ranks read it back.
STEPTAPE_EXPORT void broadcastOptimizerState(torch::optim::Optimizer& optimizer,
                                             Communicator& world, int root = 0);

/// Checks that all ranks hold bit-identical parameters, as synchronous training guarantees after
/// every step. Buffers are not compared: batch statistics are those of each rank's samples.
///
/// Collective.
///
/// @throws Error(kRankMismatch) on every rank, naming the ranks that differ from the root.
/// @threads Not thread-safe: only the communicator's thread, one at a time.
/// @cost   One pass of CRC-32C over the parameters and one allgather of four bytes.
STEPTAPE_EXPORT void checkParametersAreEqual(const torch::nn::Module& module, Communicator& world);

/// Options of averageParameters(). Must be equal on all ranks.
struct AverageParametersOptions {
  /// Also average floating-point buffers, such as the running statistics of BatchNorm. Other
  /// buffers, such as counters, stay unchanged.
  bool buffers = true;
};

/// Replaces every parameter with its mean over the ranks, for local SGD: ranks make steps of their
/// own and average their parameters from time to time.
///
/// float16 and bfloat16 are summed in float32. The result is bit-identical on every rank. Each rank
/// keeps its own optimizer state.
///
/// Collective: every rank calls it with a module of the same structure.
///
/// @throws Error(kRankMismatch) on every rank if a name, shape or type differs from the root's;
///         Error(kInvalidArgument) naming a parameter that is not of a floating-point type.
/// @threads Not thread-safe: only the communicator's thread, one at a time.
/// @cost   One allreduce per type and 16 MiB. Tensors that are not contiguous in main memory are
///         copied.
/// @source Stich, "Local SGD Converges Fast and Communicates Little", arXiv:1805.09767.
STEPTAPE_EXPORT void averageParameters(torch::nn::Module& module, Communicator& world,
                                       const AverageParametersOptions& options = {});

}  // namespace steptape
