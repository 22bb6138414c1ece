// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "steptape/log/run_reader.h"

namespace steptape::tools {

/// Returns for how long a run had been trained at a time, in seconds: without the gaps between its
/// sessions.
inline double trainedTime(const std::vector<RunSession>& sessions,
                          double wallTime = std::numeric_limits<double>::infinity()) {
  double seconds = 0;
  for (const RunSession& session : sessions) {
    if (session.begin < wallTime) {
      seconds += std::min(session.end, wallTime) - session.begin;
    }
  }
  return seconds;
}

}  // namespace steptape::tools
