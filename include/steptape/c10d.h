// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Component `c10d`: training jobs of several ranks that torchrun or srun starts, without MPI.
///
///     #include <steptape/c10d.h>
///     #include <steptape/steptape.h>
///
///     int main() {
///       steptape::Environment environment;
///       auto world = steptape::world();
///       steptape::DistributedWriter writer("runs/exp", world);
///       …
///     }
///
///     torchrun --nproc-per-node=4 --no-python ./train

#include "steptape/metrics/distributed_writer.h"
#include "steptape/metrics/metric_average.h"
#include "steptape/metrics/straggler_report.h"
#include "steptape/ranks/c10d_job.h"
#include "steptape/ranks/communicator.h"
