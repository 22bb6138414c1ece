// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Component `mpi`: training jobs of several ranks.
///
///     #include <steptape/environment.h>
///     #include <steptape/steptape.h>
///
///     int main(int argc, char** argv) {
///       steptape::Environment environment(argc, argv);
///       auto world = steptape::world();
///       steptape::DistributedWriter writer("runs/exp", world);
///       for (std::int64_t step = 0; step < 100; ++step) {
///         writer.addReduced("loss", train(step), step);   // queued on every rank
///         writer.reduce(step);                            // averaged over all, in one allreduce
///       }
///     }
///
/// Does not include `<mpi.h>`. To use your own MPI communicators, include
/// `<steptape/ranks/mpi_communicator.h>`, the only header that does.

#include "steptape/metrics/distributed_writer.h"
#include "steptape/metrics/metric_average.h"
#include "steptape/metrics/straggler_report.h"
#include "steptape/ranks/communicator.h"
#include "steptape/ranks/mpi_job.h"
