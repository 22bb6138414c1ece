// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "steptape/base/export.h"

namespace steptape::detail::base {

/// What the kernel tells about a process.
/// @source proc_pid_stat(5), fields 3, 4, 9, 22 and 24
struct ProcessStat {
  char state = '\0';  ///< 'R' runs, 'S' and 'D' wait, 'T' stopped, 't' held by a debugger.
  std::int64_t parent = 0;
  std::int64_t group = 0;
  std::uint64_t flags = 0;
  std::uint64_t start = 0;  ///< Clock ticks after the boot.
  std::int64_t residentPages = 0;

  bool isStopped() const { return state == 'T' || state == 't'; }
  /// Its parent has not yet asked for its exit code.
  bool hasEnded() const { return state == 'Z' || state == 'X'; }
  /// The kernel takes it apart.
  bool isExiting() const {
    constexpr std::uint64_t kExiting = 4;  // PF_EXITING of linux/sched.h
    return (flags & kExiting) != 0;
  }
};

/// @param process Its number, or "self".
/// @return nothing if there is no such process.
STEPTAPE_EXPORT std::optional<ProcessStat> readProcessStat(const std::string& process);

/// Returns whether a process ends without anything that could stop it: it has got a signal that
/// kills it, or exits. Until the kernel has freed its memory it keeps its locks.
/// @source proc_pid_status(5), SigPnd and ShdPnd; linux/kernel/signal.c: a deadly signal becomes
///         SIGKILL for each thread
STEPTAPE_EXPORT bool isDying(const std::string& process);

}  // namespace steptape::detail::base
