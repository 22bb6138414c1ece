// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "steptape/base/export.h"

namespace steptape::detail::log {

/// What recoverRuns() has done.
struct RecoveryReport {
  /// One process that died.
  struct Process {
    std::uint64_t pid = 0;
    std::string program;
    std::string host;
    std::vector<std::string> directories;  ///< Of its runs.
    std::uint64_t values = 0;              ///< Brought into event files.
    std::vector<std::string> files;        ///< That got them.
    std::uint64_t unreadableValues = 0;    ///< That were not encoded yet, such as images.
    std::vector<std::string> problems;     ///< What is damaged or could not be written.
    bool isKept = false;                   ///< The box is still there, for another try.
  };
  std::vector<Process> processes;
};

/// Which processes are recovered, and how.
struct RecoveryOptions {
  /// Those that had a run in this directory; empty: all of this user on this machine.
  std::string directory;
  /// Also those that had a run below it.
  bool below = false;
  /// Drops what belongs to a run directory that does not exist any more. False leaves the box: the
  /// file system may come back.
  bool discardMissing = false;
};

/// Brings into their event files what killed processes had logged there and not yet written: once,
/// in order, and without changing the bytes that are there.
///
/// A killed recovery does no harm: the next one continues. Boxes of living processes are not
/// touched, nor those of other users and of other machines.
///
/// @throws std::bad_alloc
/// @threads Thread-safe.
STEPTAPE_EXPORT RecoveryReport recoverRuns(const RecoveryOptions& options);

}  // namespace steptape::detail::log
