// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <steptape/train/batch_loader.h>

#include <torch/torch.h>

/// Generates images of CIFAR-10's shape. Each class is a coarse pattern of colors with noise, which
/// a network learns in a few steps.
inline steptape::ImageDataset syntheticImages(std::int64_t count, std::uint64_t seed) {
  auto patternsOfAllSets = at::make_generator<at::CPUGeneratorImpl>(1);
  const torch::Tensor patterns =
      torch::rand({10, 3, 4, 4}, patternsOfAllSets).repeat_interleave(8, 2).repeat_interleave(8, 3);
  auto generator = at::make_generator<at::CPUGeneratorImpl>(seed);
  const torch::Tensor labels = torch::randint(10, {count}, generator, torch::kLong);
  const torch::Tensor noise = torch::rand({count, 3, 32, 32}, generator);
  const torch::Tensor pixels = 255 * (0.5 * patterns.index_select(0, labels) + 0.5 * noise);
  return {pixels.to(torch::kUInt8), labels};
}
