// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "benchmark.h"

/// The number of classes of ImageNet.
inline constexpr std::int64_t kClasses = 1000;

/// The options of the command line.
struct Options {
  example::BenchmarkOptions benchmark;
  std::string model = "resnet50";
  std::int64_t imageSize = 224;
  std::string data;
  std::int64_t workers = 2;
};
