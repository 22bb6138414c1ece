// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <steptape/trainer/run_description.h>
#include <steptape/trainer/trainer_options.h>

#include "options.h"

/// A new directory for every start: "runs/fashion_mnist_2026-01-31_12-00-00".
std::string defaultLogDir();

/// Adds what the command line decided to the description of the run.
void appendOptions(const Options& options, steptape::DescriptionRows& rows);

/// The result as one line of JSON for programs; NaN and infinities become strings.
std::string resultJson(const steptape::TrainingResult& result, int ranks,
                       const std::string& logDir);
