// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <steptape/recipe/recipe.h>
#include <steptape/trainer/trainer_options.h>

#include "options.h"

#include <torch/nn/module.h>

/// A new directory for every start: "runs/fashion_mnist_2026-01-31_12-00-00".
std::string defaultLogDir();

/// What the command line decided besides TrainerOptions.
steptape::DescriptionRows describeOptions(const Options& options);

/// The CRC-32C of all parameters, by which runs with the same outcome are known.
std::string parametersChecksum(const torch::nn::Module& module);

/// The result as one line of JSON for programs, each metric as "test_<name>"; NaN and infinities
/// become strings.
std::string resultJson(const steptape::TrainingResult& result, int ranks, const std::string& logDir,
                       const std::string& checksum);
