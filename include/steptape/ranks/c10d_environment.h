// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "steptape/base/export.h"
#include "steptape/ranks/communicator.h"
#include "steptape/ranks/environment.h"

namespace steptape::c10d {

/// Options of Environment.
struct EnvironmentOptions {
  /// Initial Communicator::timeout(). Also limits how long the ranks wait for each other at the
  /// start.
  std::chrono::milliseconds timeout = std::chrono::minutes(10);

  /// Treats each block of this many consecutive ranks as a node: "host/0", "host/1" and so on. Lets
  /// code for several nodes run on one machine. 0: ranks that share memory are on one node. Must be
  /// equal on all ranks.
  int ranksPerNode = 0;

  /// Whether groups of ranks on one node move data through memory that they share. If not, or if
  /// the memory is too small, they use gloo, as groups of several nodes do. Must be equal on all
  /// ranks.
  bool usesNodeMemory = true;

  /// The network interfaces that gloo uses in turn, such as "eth0" or "eth0,eth1". Empty: the
  /// environment variable `GLOO_SOCKET_IFNAME`, or else the interface of this host's name.
  std::string networkInterfaces;
};

/// Joins the job that torchrun, srun, or a program that sets the same variables has started, for
/// its scope. Construct one at the start of main(), before anything that communicates. A process
/// that no launcher has started is a job of one rank.
///
///     int main() {
///       steptape::c10d::Environment environment;
///       try {
///         train(steptape::c10d::world());
///       } catch (const std::exception& error) {
///         environment.abort(error.what());
///       }
///     }
///
/// The ranks meet at LibTorch's TCPStore: at `MASTER_ADDR` and `MASTER_PORT`, where torchrun or
/// rank 0 serves it. srun needs no variables: Steptape then uses the first node of the step. The
/// store and gloo neither encrypt nor authenticate: use them in private networks only.
///
/// A failing rank ends the job: the destructor ends the process with exit code 1 if an exception
/// leaves the scope, or if an operation of a communicator has timed out or lost a rank. torchrun
/// then restarts the ranks or ends the job, and shows the reason in its summary.
///
/// @threads Not thread-safe: one thread at a time.
class STEPTAPE_EXPORT Environment {
 public:
  /// @throws Error(kFailedPrecondition) if the environment tells only a part of a launch, or if
  ///         another Environment is alive; Error(kInvalidArgument) if a variable has no possible
  ///         value; Error(kDeadlineExceeded) if the store does not answer or a rank does not come
  ///         in time; Error(kRankMismatch) if the ranks have different versions of Steptape or
  ///         different `WORLD_SIZE`.
  explicit Environment(const EnvironmentOptions& options = {});
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;
  /// Ends the process as described above, or waits a few seconds for the other ranks if the store
  /// is in this process. Never throws.
  ~Environment();

  /// Prints the rank and `why` to stderr, tells torchrun, and ends this process with exit code 1.
  /// The other ranks notice at once. Does not return; data that writers have not flushed is lost.
  [[noreturn]] void abort(const std::string& why) const;

  /// Returns what this process is part of, for a log: "torchrun, store at localhost:29400".
  const std::string& describe() const;

 private:
  struct Job;
  friend std::shared_ptr<Communicator> world();

  std::unique_ptr<Job> job_;
  int exceptionsAtStart_ = 0;
};

/// Returns all ranks of the job. The object may outlive the Environment, but must not be used after
/// it.
///
/// @throws Error(kFailedPrecondition) if no Environment is alive.
STEPTAPE_EXPORT std::shared_ptr<Communicator> world();

namespace detail {

/// For steptape::Environment.
STEPTAPE_EXPORT std::unique_ptr<steptape::detail::ranks::Job> joinJob(int* argc, char*** argv);
inline const bool kIsProvided = steptape::detail::ranks::provideStore(&joinJob);

}  // namespace detail
}  // namespace steptape::c10d
