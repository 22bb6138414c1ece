// SPDX-License-Identifier: Apache-2.0
#include "mpi/job_state.h"

#include "steptape/base/error.h"
#include "steptape/mpi/mpi_communicator.h"

namespace steptape::mpi::detail {
namespace {

// Not guarded: only the thread that calls MPI comes here.
std::string& stuckReason() {
  static std::string reason;
  return reason;
}

}  // namespace

bool isMpiRunning() {
  int isInitialised = 0;
  int isFinalised = 0;
  MPI_Initialized(&isInitialised);
  MPI_Finalized(&isFinalised);
  return isInitialised != 0 && isFinalised == 0;
}

void requireMpi(const char* caller) {
  if (!isMpiRunning()) {
    throw Error(ErrorCode::kFailedPrecondition,
                std::string(caller) +
                    ": MPI is not initialised, or finalised already; keep a "
                    "steptape::mpi::Environment alive in main()");
  }
}

void markStuck(const std::string& why) {
  if (stuckReason().empty()) {
    stuckReason() = why;
  }
}

const std::string& stuckBecause() {
  return stuckReason();
}

}  // namespace steptape::mpi::detail
