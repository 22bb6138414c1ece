// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Training a LibTorch model on all ranks of a job:
///
///     steptape::mpi::Environment environment(argc, argv);         // or no MPI, and one rank
///     auto world = steptape::mpi::world();
///     Net model;
///     torch::optim::SGD optimizer(model->parameters(), 0.01);
///     steptape::DistributedWriter writer("runs/exp", world);
///     steptape::Trainer trainer(model, optimizer, world, writer);
///     trainer.fit(trainLoader, testLoader);
///
/// The pieces that Trainer is made of serve in a training loop of one's own as well:
///
///     DistributedSampler -> ImageLoader -> forward, backward -> GradientSync -> optimizer.step()
///     broadcastParameters() once at the start, saveCheckpoint() now and then

#include "steptape/distributed/communicator.h"        // IWYU pragma: export
#include "steptape/distributed/distributed_writer.h"  // IWYU pragma: export
#include "steptape/distributed/metric_average.h"      // IWYU pragma: export
#include "steptape/torch/op_profiler.h"               // IWYU pragma: export
#include "steptape/torch/tensor_traits.h"             // IWYU pragma: export
#include "steptape/trainer/average_parameters.h"      // IWYU pragma: export
#include "steptape/trainer/batch_loader.h"            // IWYU pragma: export
#include "steptape/trainer/broadcast.h"               // IWYU pragma: export
#include "steptape/trainer/checkpoint.h"              // IWYU pragma: export
#include "steptape/trainer/checkpoint_store.h"        // IWYU pragma: export
#include "steptape/trainer/distributed_sampler.h"     // IWYU pragma: export
#include "steptape/trainer/evaluation_metric.h"       // IWYU pragma: export
#include "steptape/trainer/gradient_sync.h"           // IWYU pragma: export
#include "steptape/trainer/idx_file.h"                // IWYU pragma: export
#include "steptape/trainer/image_dataset.h"           // IWYU pragma: export
#include "steptape/trainer/learning_rate_schedule.h"  // IWYU pragma: export
#include "steptape/trainer/mixed_precision.h"         // IWYU pragma: export
#include "steptape/trainer/monitor_options.h"         // IWYU pragma: export
#include "steptape/trainer/recipe.h"                  // IWYU pragma: export
#include "steptape/trainer/run_description.h"         // IWYU pragma: export
#include "steptape/trainer/stop_signals.h"            // IWYU pragma: export
#include "steptape/trainer/sync_batch_norm.h"         // IWYU pragma: export
#include "steptape/trainer/thread_options.h"          // IWYU pragma: export
#include "steptape/trainer/trainer.h"                 // IWYU pragma: export
#include "steptape/trainer/trainer_callback.h"        // IWYU pragma: export
#include "steptape/trainer/trainer_options.h"         // IWYU pragma: export
#include "steptape/trainer/training_result.h"         // IWYU pragma: export
