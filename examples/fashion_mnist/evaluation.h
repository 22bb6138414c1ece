// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <steptape/metrics/distributed_writer.h>
#include <steptape/train/batch_loader.h>
#include <steptape/train/trainer_options.h>

#include "network.h"
#include "options.h"

/// Evaluates the trained network on the test images and logs a confusion matrix, a precision-recall
/// curve for each class, and the last layer's input of some images for the projector.
///
/// Does nothing on the ranks that do not write.
void logEvaluation(steptape::DistributedWriter& writer, Classifier& model,
                   const steptape::ImageDataset& test, std::int64_t step);

/// Logs the hyperparameters and the results of the run, by which TensorBoard compares runs.
void logHyperparameters(steptape::DistributedWriter& writer, const Options& options, int ranks,
                        const steptape::TrainingResult& result);
