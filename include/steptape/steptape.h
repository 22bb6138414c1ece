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
//   reader       LogDir        a log directory: the series of all runs, again and again
//                readScalars() the scalars of one run or file, once
//                RunReader     what LogDir gives, of one run found by listRuns()
//                EventFileReader, RecordReader
//                              one file as it is: its events, or its records of any contents
//                docs/reading.md says more.
//   distributed  DistributedWriter, metricAverage() and Communicator; the default communicator is
//                serial, and <steptape/mpi.h> has one for MPI
//   profile      STEPTAPE_ZONE and Profiler
#include "steptape/base/json.h"                   // IWYU pragma: export
#include "steptape/base/version.h"                // IWYU pragma: export
#include "steptape/log/aggregate.h"               // IWYU pragma: export
#include "steptape/log/curve_check.h"             // IWYU pragma: export
#include "steptape/log/event_file_reader.h"       // IWYU pragma: export
#include "steptape/log/export.h"                  // IWYU pragma: export
#include "steptape/log/file_check.h"              // IWYU pragma: export
#include "steptape/log/log_dir.h"                 // IWYU pragma: export
#include "steptape/log/rewrite.h"                 // IWYU pragma: export
#include "steptape/log/run_reader.h"              // IWYU pragma: export
#include "steptape/log/summary_writer.h"          // IWYU pragma: export
#include "steptape/log/values.h"                  // IWYU pragma: export
#include "steptape/metrics/distributed_writer.h"  // IWYU pragma: export
#include "steptape/metrics/hang_watchdog.h"       // IWYU pragma: export
#include "steptape/metrics/machine_metrics.h"     // IWYU pragma: export
#include "steptape/metrics/metric_average.h"      // IWYU pragma: export
#include "steptape/metrics/straggler_report.h"    // IWYU pragma: export
#include "steptape/process/machine_sampler.h"     // IWYU pragma: export
#include "steptape/profile.h"                     // IWYU pragma: export
#include "steptape/ranks/communicator.h"          // IWYU pragma: export
