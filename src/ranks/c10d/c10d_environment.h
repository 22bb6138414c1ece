// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "steptape/ranks/communicator.h"
#include "steptape/ranks/environment.h"

namespace steptape::c10d {

/// Joins the job that torchrun, srun, or a program that sets the same variables has started, for
/// its scope: steptape::Environment of a job that communicates by the component `c10d`.
///
/// @threads Not thread-safe: one thread at a time.
class Environment {
 public:
  /// @throws Error as steptape::Environment.
  explicit Environment(const EnvironmentOptions& options = {});
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;
  /// Ends the process as steptape::Environment, or waits a few seconds for the other ranks if the
  /// store is in this process. Never throws.
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
std::shared_ptr<Communicator> world();

}  // namespace steptape::c10d
