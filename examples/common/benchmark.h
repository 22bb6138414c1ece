// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include <steptape/train/batch_loader.h>
#include <steptape/train/recipe.h>

#include "command_line.h"
#include "on_ranks.h"

#include <torch/torch.h>

namespace example {

/// The options that every benchmark has.
struct BenchmarkOptions {
  std::int64_t batchSize = 32;
  std::int64_t warmup = 10;
  std::int64_t iterations = 10;
  std::int64_t steps = 10;
  std::int64_t profileSteps = 3;
  bool fp16Allreduce = false;
  std::int64_t threads = 0;
  std::string logDir;
  bool json = false;
};

/// Adds the options to `line`.
///
/// @param samples What a batch consists of, such as "images".
void addOptions(CommandLine& line, BenchmarkOptions& options, const std::string& samples);

/// What a benchmark trains.
struct BenchmarkTask {
  std::string model;                   ///< Its name.
  std::string samples;                 ///< What a batch consists of, such as "images".
  steptape::DescriptionRows settings;  ///< Logged with the run.
  torch::nn::AnyModule network;        ///< On the device that prepareRank() returned.
  std::function<steptape::Batch()> nextBatch;
  std::function<torch::Tensor(const torch::Tensor& output, const torch::Tensor& targets)> loss;
};

/// Sets this rank's threads.
///
/// @return the device to train on.
torch::Device prepareRank(const BenchmarkOptions& options, const World& world);

/// Trains and measures how many samples per second the ranks learn from.
///
/// An iteration is a number of steps that are timed together. The result is the mean and the
/// standard deviation over the iterations. Afterwards a few steps are profiled: they show the time
/// of each part of a step and of each operator. On a GPU every part of these steps ends with a
/// synchronization, so its time includes its kernels.
///
/// Logs, and prints on the root:
///
///     <samples>_per_second            of all ranks together, a point for each iteration
///     <samples>_per_second_per_rank   with /min and /max
///     loss
///     straggler/...                   times of the measured steps
///     step_ms/<part>                  of a profiled step, the mean over the ranks
///     profile/...                     tables of operators
///
/// Collective.
void runBenchmark(const BenchmarkOptions& options, const World& world, BenchmarkTask task);

}  // namespace example
