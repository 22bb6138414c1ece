// SPDX-License-Identifier: Apache-2.0
#pragma once

// Everything of the component `core`: event files without LibTorch and without MPI.
//
//   steptape::SummaryWriter writer("runs/demo");
//   for (int step = 0; step < 100; ++step) {
//     writer.addScalar("loss", 1.0 / (step + 1), step);
//   }
//
//   writer  SummaryWriter: what addX() can do, and what each call guarantees
//   reader  event files back as events and series
//   distributed  Communicator (serial unless <steptape/mpi.h> gives another), metrics over ranks
//   profile  STEPTAPE_ZONE
#include "steptape/base/version.h"              // IWYU pragma: export
#include "steptape/distributed/communicator.h"  // IWYU pragma: export
#include "steptape/profile.h"                   // IWYU pragma: export
#include "steptape/writer/summary_writer.h"     // IWYU pragma: export
