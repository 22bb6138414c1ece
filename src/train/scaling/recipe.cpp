// SPDX-License-Identifier: Apache-2.0
#include "steptape/train/recipe.h"

#include <limits>
#include <string>

#include "base/got_expected.h"

#include <ATen/Context.h>
#include <torch/cuda.h>
#include <torch/optim/optimizer.h>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace steptape {
void scaleLearningRate(torch::optim::Optimizer& optimizer, double factor) {
  if (!(factor > 0)) {
    detail::base::reject("factor " + std::to_string(factor), "a positive number",
                         "scaleLearningRate");
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

c10::Device deviceForLocalRank(const Communicator& world) {
  return deviceForLocalRank(world.localRank(), static_cast<int>(torch::cuda::device_count()));
}

c10::Device deviceForLocalRank(int localRank, int deviceCount) {
  if (localRank < 0 || deviceCount < 0) {
    detail::base::reject("local rank " + std::to_string(localRank) + " and " +
                             std::to_string(deviceCount) + " devices",
                         "numbers of at least 0", "deviceForLocalRank");
  }
  if (deviceCount == 0) {
    return {c10::kCPU};
  }
  return {c10::kCUDA, static_cast<c10::DeviceIndex>(localRank % deviceCount)};
}

void allowTf32(bool allowed) {
  at::globalContext().setAllowTF32CuBLAS(allowed);
  at::globalContext().setAllowTF32CuDNN(allowed);
}

std::string describeTf32() {
  const auto onOrOff = [](bool on) { return on ? "on" : "off"; };
  return std::string("matrix products ") + onOrOff(at::globalContext().allowTF32CuBLAS()) +
         ", convolutions " + onOrOff(at::globalContext().allowTF32CuDNN());
}

std::uint64_t seedRank(std::uint64_t seed, const Communicator& world) {
  const std::uint64_t own = rankSeed(seed, world.rank());
  at::manual_seed(own);
  return own;
}

std::uint64_t rankSeed(std::uint64_t seed, int rank) {
  constexpr std::uint64_t kGoldenRatio = 0x9e3779b97f4a7c15;
  const auto mix = [](std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  };
  // Mixed before adding the rank: otherwise rank 1 of a seed could equal rank 0 of another seed.
  return mix(mix(seed + kGoldenRatio) + (static_cast<std::uint64_t>(rank) + 1) * kGoldenRatio);
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
