// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <set>
#include <string>

#include "tools/steptape/jobs/launcher.h"

namespace steptape::tools {

// How a job ended, and whether it would end in the same way again.

inline constexpr int kExitCannotExecute = 126;
inline constexpr int kExitNotFound = 127;
inline constexpr int kExitSignal = 128;  ///< Plus the number of the signal, as in shells.
/// The job ended well after a signal that asked it to end: it may go on later. EX_TEMPFAIL of
/// sysexits.h.
inline constexpr int kExitStopped = 75;

/// How the launcher of a job ended, or the job itself if there is no launcher.
struct JobEnd {
  int exitCode = 0;       ///< kExitSignal + signal if a signal ended the launcher.
  bool bySignal = false;  ///< A signal ended the launcher itself.
  /// Processes of the job that have died, where the exit code does not tell it.
  std::size_t died = 0;
};

/// Returns the end that waitpid() reports.
JobEnd jobEndOf(int waitStatus);

/// Returns such as "exit code 137, a rank was killed by SIGKILL".
std::string describe(const JobEnd& end, LauncherKind kind);

/// Returns why the same job would end like this again, or was stopped on purpose, such as "exit
/// code 2 means wrong arguments"; empty if another start may help.
///
/// @param more Codes of the job's own that mean the same.
std::string finalReason(const JobEnd& end, LauncherKind kind, const std::set<int>& more);

}  // namespace steptape::tools
