// SPDX-License-Identifier: Apache-2.0
#include "base/process_stat.h"

#include <cinttypes>
#include <cstddef>
#include <cstdio>

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
                  " %c %" SCNd64
                  " %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %" SCNu64
                  " %*s %" SCNd64,
                  &stat.state, &stat.parent, &stat.start, &stat.residentPages) != 4) {
    return std::nullopt;
  }
  return stat;
}

}  // namespace steptape::detail::base
