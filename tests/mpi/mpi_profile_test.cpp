// SPDX-License-Identifier: Apache-2.0
// What a profiler asks of ranks that are processes.

#include "steptape/distributed/clock_offset.h"
#include "steptape/mpi/mpi_communicator.h"

#include <gtest/gtest.h>

namespace steptape {
namespace {

TEST(ClockOffset, HoldsTheTruthThatTheRanksOfANodeShareAClock) {
  MpiCommunicator world(MPI_COMM_WORLD);
  for (int attempt = 0; attempt < 20; ++attempt) {
    const ClockOffset offset = estimateClockOffset(world);
    EXPECT_LE(offset.nanos - offset.bound, 0);
    EXPECT_GE(offset.nanos + offset.bound, 0);
    EXPECT_TRUE(offset.isSteady);
  }
}

}  // namespace
}  // namespace steptape
