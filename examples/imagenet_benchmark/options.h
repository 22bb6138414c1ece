// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

/// The number of classes of ImageNet.
inline constexpr std::int64_t kClasses = 1000;

/// The options of the command line.
struct Options {
  std::string model = "resnet50";
  std::int64_t batchSize = 32;
  std::int64_t imageSize = 224;
  std::int64_t warmup = 10;
  std::int64_t iterations = 10;
  std::int64_t steps = 10;
  bool fp16Allreduce = false;
  std::string data;
  std::int64_t workers = 2;
  std::int64_t threads = 0;
  std::string logDir = "runs/imagenet_benchmark";
  bool json = false;
};
