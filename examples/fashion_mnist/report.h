// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <steptape/train/recipe.h>
#include <steptape/train/trainer_options.h>

#include "options.h"

#include <torch/nn/module.h>

/// Returns a new directory for each start, such as "runs/fashion_mnist_2026-01-31_12-00-00".
std::string defaultLogDir();

/// Describes the options of the command line that are not in TrainerOptions.
steptape::DescriptionRows describeOptions(const Options& options);

/// Returns a hash of all parameters. Runs with equal results have equal hashes.
std::string parametersChecksum(const torch::nn::Module& module);

/// Returns the result as one line of JSON, each metric as "test_<name>". NaN and infinities become
/// strings.
std::string resultJson(const steptape::TrainingResult& result, int ranks, const std::string& logDir,
                       const std::string& checksum);
