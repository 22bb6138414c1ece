// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <steptape/data/image_dataset.h>
#include <steptape/distributed/distributed_writer.h>
#include <steptape/trainer/trainer_options.h>

#include "network.h"
#include "options.h"

/// Logs, on the rank that writes, what the trained network makes of the test images: a confusion
/// matrix, a precision-recall curve for each class, and the last layer's input of some images for
/// the projector. Does nothing on the other ranks.
void logEvaluation(steptape::DistributedWriter& writer, Classifier& model,
                   const steptape::ImageDataset& test, std::int64_t step);

/// Logs what the run was given and what came out, by which TensorBoard compares runs.
void logHyperparameters(steptape::DistributedWriter& writer, const Options& options, int ranks,
                        const steptape::TrainingResult& result);
