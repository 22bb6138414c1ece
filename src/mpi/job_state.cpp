// SPDX-License-Identifier: Apache-2.0
#include "mpi/job_state.h"

#include "steptape/base/error.h"
#include "steptape/base/mutex.h"
#include "steptape/mpi/mpi_communicator.h"

namespace steptape::mpi::detail {
namespace {

/// At MPI_THREAD_MULTIPLE several threads come here.
struct StuckReason {
  Mutex mutex;
  std::string text STEPTAPE_GUARDED_BY(mutex);
};

StuckReason& stuckReason() {
  static StuckReason reason;
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
  StuckReason& reason = stuckReason();
  MutexLock lock(reason.mutex);
  if (reason.text.empty()) {
    reason.text = why;
  }
}

std::string stuckBecause() {
  StuckReason& reason = stuckReason();
  MutexLock lock(reason.mutex);
  return reason.text;
}

}  // namespace steptape::mpi::detail
