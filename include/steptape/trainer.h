// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Component `trainer`: trains a LibTorch model on all ranks of a job.
///
///     steptape::Environment environment(argc, argv);  // of <steptape/environment.h>
///     auto world = steptape::world();
///     Net model;
///     torch::optim::SGD optimizer(model->parameters(), 0.01);
///     steptape::DistributedWriter writer("runs/exp", world);
///     steptape::Trainer trainer(model, optimizer, world, writer);
///     trainer.fit(trainLoader, testLoader);
///
/// The parts of Trainer also work in your own training loop:
///
///     DistributedSampler -> ImageLoader -> forward, backward -> GradientSync -> optimizer.step()
///     broadcastParameters() once at the start, saveCheckpoint() regularly
///
/// `<steptape/train/torch_data.h>`, for data sets and data loaders of torch::data, is a separate
/// include, because it includes torch::data.

#include "steptape/base/signal_watch.h"             // IWYU pragma: export
#include "steptape/libtorch/op_profiler.h"          // IWYU pragma: export
#include "steptape/libtorch/tensor_traits.h"        // IWYU pragma: export
#include "steptape/metrics/distributed_writer.h"    // IWYU pragma: export
#include "steptape/metrics/metric_average.h"        // IWYU pragma: export
#include "steptape/ranks/communicator.h"            // IWYU pragma: export
#include "steptape/train/batch_loader.h"            // IWYU pragma: export
#include "steptape/train/checkpoint.h"              // IWYU pragma: export
#include "steptape/train/distributed_sampler.h"     // IWYU pragma: export
#include "steptape/train/gradient_sync.h"           // IWYU pragma: export
#include "steptape/train/learning_rate_schedule.h"  // IWYU pragma: export
#include "steptape/train/parameters.h"              // IWYU pragma: export
#include "steptape/train/recipe.h"                  // IWYU pragma: export
#include "steptape/train/sync_batch_norm.h"         // IWYU pragma: export
#include "steptape/train/trainer.h"                 // IWYU pragma: export
#include "steptape/train/trainer_callback.h"        // IWYU pragma: export
#include "steptape/train/trainer_options.h"         // IWYU pragma: export
