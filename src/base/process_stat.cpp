// SPDX-License-Identifier: Apache-2.0
#include "base/process_stat.h"

#include <cinttypes>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/whole_file.h"

namespace steptape::detail::base {

std::optional<ProcessStat> readProcessStat(const std::string& process) {
  std::string text;
  if (!readWholeFile("/proc/" + process + "/stat", text).ok()) {
    return std::nullopt;
  }
  // The name in field 2 may contain spaces and parentheses.
  const std::size_t name = text.rfind(')');
  ProcessStat stat;
  if (name == std::string::npos ||
      std::sscanf(text.c_str() + name + 1,
                  " %c %" SCNd64 " %" SCNd64 " %*s %*s %*s %" SCNu64
                  " %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %" SCNu64 " %*s %" SCNd64,
                  &stat.state, &stat.parent, &stat.group, &stat.flags, &stat.start,
                  &stat.residentPages) != 6) {
    return std::nullopt;
  }
  return stat;
}

bool isDying(const std::string& process) {
  const std::optional<ProcessStat> stat = readProcessStat(process);
  if (!stat.has_value() || stat->hasEnded() || stat->isExiting()) {
    return true;
  }
  std::string text;
  if (!readWholeFile("/proc/" + process + "/status", text).ok()) {
    return true;
  }
  constexpr unsigned long long kKill = 1ULL << (SIGKILL - 1);
  for (const char* const field : {"\nSigPnd:", "\nShdPnd:"}) {
    const std::size_t begin = text.find(field);
    if (begin != std::string::npos &&
        (std::strtoull(text.c_str() + begin + std::strlen(field), nullptr, 16) & kKill) != 0) {
      return true;
    }
  }
  return false;
}

}  // namespace steptape::detail::base
