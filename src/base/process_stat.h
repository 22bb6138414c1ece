// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "steptape/base/export.h"

namespace steptape::detail::base {

/// What the kernel tells about a process.
/// @source proc_pid_stat(5), fields 3, 4, 22 and 24
struct ProcessStat {
  char state = '\0';  ///< 'R' runs, 'S' and 'D' wait, 'T' stopped, 't' held by a debugger.
  std::int64_t parent = 0;
  std::uint64_t start = 0;  ///< Clock ticks after the boot.
  std::int64_t residentPages = 0;

  bool isStopped() const { return state == 'T' || state == 't'; }
  /// Its parent has not yet asked for its exit code.
  bool hasEnded() const { return state == 'Z' || state == 'X'; }
};

/// @param process Its number, or "self".
/// @return nothing if there is no such process.
STEPTAPE_EXPORT std::optional<ProcessStat> readProcessStat(const std::string& process);

}  // namespace steptape::detail::base
