// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "steptape/base/export.h"
#include "steptape/comm/communicator.h"
#include "steptape/recipe/thread_options.h"  // IWYU pragma: export

#include <c10/core/Device.h>

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

/// The device for a rank: the CUDA devices of its node go round among the node's ranks; the CPU
/// where there is none.
///
/// @threads Thread-safe.
STEPTAPE_EXPORT c10::Device deviceForLocalRank(const Communicator& world);
/// As above, on a node with `deviceCount` CUDA devices.
///
/// @throws Error(kInvalidArgument) if a number is negative.
STEPTAPE_EXPORT c10::Device deviceForLocalRank(int localRank, int deviceCount);

/// Whether matrix products and convolutions of float32 on CUDA devices may round their inputs to
/// TF32: 11 bits of each number instead of 24, and several times as fast from Ampere on. For the
/// whole process; nothing changes on other devices.
STEPTAPE_EXPORT void allowTf32(bool allowed);
/// Such as "matrix products off, convolutions on", for logs.
STEPTAPE_EXPORT std::string describeTf32();

/// Gives LibTorch's generators, on all devices of this process, a seed of this rank's own.
///
///     torch::manual_seed(seed);               // the same weights on every rank,
///     Net model;
///     steptape::seedRank(seed, *world);       // then dropout and augmentation of its own for each
///
/// Not a collective. @return the seed: rankSeed(seed, world.rank()).
STEPTAPE_EXPORT std::uint64_t seedRank(std::uint64_t seed, const Communicator& world);

/// The seed of a rank. Mixed thoroughly, so that neither the ranks of one run nor those of runs
/// with neighbouring seeds draw the same numbers.
///
/// @source Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014:
///         the output function of SplitMix64 with Stafford's variant 13 of the constants.
STEPTAPE_EXPORT std::uint64_t rankSeed(std::uint64_t seed, int rank);

/// Makes the C library's malloc keep what is freed, up to 512 MiB, for what comes next.
///
/// Every training step frees the activations and gradients of the one before and takes as much
/// again. By default glibc gives such memory back to the system each time, and each page of it
/// costs a page fault in the next step.
///
/// @return false where the C library has no such switch; nothing is changed then.
/// @threads Call it before other threads run. For the whole process.
/// @source mallopt(3): M_MMAP_THRESHOLD, M_TRIM_THRESHOLD.
STEPTAPE_EXPORT bool keepFreedMemory();

}  // namespace steptape
