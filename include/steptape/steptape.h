// SPDX-License-Identifier: Apache-2.0
#pragma once

// Component `core`: event files, without LibTorch and MPI.
//
//   steptape::SummaryWriter writer("runs/demo");
//   for (int step = 0; step < 100; ++step) {
//     writer.addScalar("loss", 1.0 / (step + 1), step);
//   }
//
//   writer       SummaryWriter and its addX() calls
//   reader       reads event files as events and series
//   distributed  DistributedWriter, metricAverage() and Communicator; the default communicator is
//                serial, and <steptape/mpi.h> has one for MPI
//   profile      STEPTAPE_ZONE and Profiler
#include "steptape/aggregate/aggregate.h"             // IWYU pragma: export
#include "steptape/base/json.h"                       // IWYU pragma: export
#include "steptape/base/version.h"                    // IWYU pragma: export
#include "steptape/checker/file_check.h"              // IWYU pragma: export
#include "steptape/checker/file_repair.h"             // IWYU pragma: export
#include "steptape/comm/communicator.h"               // IWYU pragma: export
#include "steptape/comm/rank_log.h"                   // IWYU pragma: export
#include "steptape/distributed/distributed_writer.h"  // IWYU pragma: export
#include "steptape/distributed/hang_watchdog.h"       // IWYU pragma: export
#include "steptape/distributed/job_usage.h"           // IWYU pragma: export
#include "steptape/distributed/machine_metrics.h"     // IWYU pragma: export
#include "steptape/distributed/metric_average.h"      // IWYU pragma: export
#include "steptape/distributed/straggler_report.h"    // IWYU pragma: export
#include "steptape/exporter/export.h"                 // IWYU pragma: export
#include "steptape/machine/machine_sampler.h"         // IWYU pragma: export
#include "steptape/profile.h"                         // IWYU pragma: export
#include "steptape/reader/event_file_reader.h"        // IWYU pragma: export
#include "steptape/reader/log_dir.h"                  // IWYU pragma: export
#include "steptape/reader/run_events.h"               // IWYU pragma: export
#include "steptape/reader/run_files.h"                // IWYU pragma: export
#include "steptape/reader/run_reader.h"               // IWYU pragma: export
#include "steptape/reader/scalar_series.h"            // IWYU pragma: export
#include "steptape/reader/values.h"                   // IWYU pragma: export
#include "steptape/writer/summary_writer.h"           // IWYU pragma: export
