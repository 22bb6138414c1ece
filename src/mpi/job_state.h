// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace steptape::mpi::detail {

/// Whether MPI may be called: it is initialized and is not being finalized.
bool isMpiRunning();

/// While one lives its thread may call MPI, if it says so: MPI_Finalize() waits for its end,
/// whoever calls it and on whichever thread. For calls that do not wait for other ranks.
///
/// Thread-safe.
class MpiUse {
 public:
  MpiUse();
  ~MpiUse();
  MpiUse(const MpiUse&) = delete;
  MpiUse& operator=(const MpiUse&) = delete;

  explicit operator bool() const { return isAllowed_; }

 private:
  bool isAllowed_;
};

/// Makes MPI_Finalize() wait for MpiUse. REQUIRES: isMpiRunning()
void watchForFinalize();

/// @throws Error(kFailedPrecondition) naming `caller` unless MPI may be called.
void requireMpi(const char* caller);

/// Remembers that an operation of this process will never end: MPI_Finalize would wait for it.
/// Thread-safe.
void markStuck(const std::string& why);
/// The first reason passed to markStuck(); empty if there is none.
std::string stuckBecause();

/// Lets go of the communicator that world() keeps.
void forgetWorld();

}  // namespace steptape::mpi::detail
