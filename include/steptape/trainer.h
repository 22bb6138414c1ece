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
/// `<steptape/data/torch_data.h>`, for data sets and data loaders of torch::data, is a separate
/// include, because it includes torch::data.

#include "steptape/base/signal_watch.h"                   // IWYU pragma: export
#include "steptape/checkpoint/checkpoint.h"               // IWYU pragma: export
#include "steptape/checkpoint/safetensors.h"              // IWYU pragma: export
#include "steptape/comm/communicator.h"                   // IWYU pragma: export
#include "steptape/data/batch_loader.h"                   // IWYU pragma: export
#include "steptape/data/distributed_sampler.h"            // IWYU pragma: export
#include "steptape/data/image_dataset.h"                  // IWYU pragma: export
#include "steptape/data/prefetch_loader.h"                // IWYU pragma: export
#include "steptape/distributed/distributed_writer.h"      // IWYU pragma: export
#include "steptape/distributed/metric_average.h"          // IWYU pragma: export
#include "steptape/parallel/gradient_sync.h"              // IWYU pragma: export
#include "steptape/parallel/parameters.h"                 // IWYU pragma: export
#include "steptape/parallel/sync_batch_norm.h"            // IWYU pragma: export
#include "steptape/recipe/learning_rate_schedule.h"       // IWYU pragma: export
#include "steptape/recipe/recipe.h"                       // IWYU pragma: export
#include "steptape/torch/op_profiler.h"                   // IWYU pragma: export
#include "steptape/torch/tensor_traits.h"                 // IWYU pragma: export
#include "steptape/trainer/evaluation_metric.h"           // IWYU pragma: export
#include "steptape/trainer/exponential_moving_average.h"  // IWYU pragma: export
#include "steptape/trainer/trainer.h"                     // IWYU pragma: export
#include "steptape/trainer/trainer_callback.h"            // IWYU pragma: export
#include "steptape/trainer/trainer_options.h"             // IWYU pragma: export
#include "steptape/trainer/training_result.h"             // IWYU pragma: export
