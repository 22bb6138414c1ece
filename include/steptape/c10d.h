// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Component `c10d`: training jobs of several ranks that torchrun or srun starts, without MPI.
///
///     #include <steptape/c10d.h>
///     #include <steptape/steptape.h>
///
///     int main() {
///       steptape::c10d::Environment environment;
///       auto world = steptape::c10d::world();
///       steptape::DistributedWriter writer("runs/exp", world);
///       …
///     }
///
///     torchrun --nproc-per-node=4 --no-python ./train

#include "steptape/c10d/environment.h"
#include "steptape/comm/communicator.h"
#include "steptape/comm/rank_log.h"
#include "steptape/distributed/distributed_writer.h"
#include "steptape/distributed/distributed_writer_options.h"
#include "steptape/distributed/metric_average.h"
#include "steptape/distributed/straggler_report.h"
