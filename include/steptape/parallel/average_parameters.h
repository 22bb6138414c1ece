// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "steptape/base/export.h"
#include "steptape/distributed/communicator.h"

namespace torch::nn {
class Module;
}

namespace steptape {

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
