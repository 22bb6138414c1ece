// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "tools/steptape/hosts/job_views.h"

namespace steptape::tools {

/// Reports what is left of a job that died, as lines on standard error below the one that says how
/// it ended. Recovers what its processes on other machines had logged, since its ranks may be
/// elsewhere after the next start.
///
/// @param place Where it ran: at most one path, the directory of its run.
/// @param since When it was started, in seconds since 1970: earlier processes are not meant.
void afterDeath(const JobSelection& place, double since);

/// What the processes that were started since then and logged into the run have left.
struct Remains {
  std::size_t died = 0;
  std::optional<int> exitCode;  ///< Of the first that called exit() while its job ran.
};
Remains remainsSince(const JobSelection& place, double since);

}  // namespace steptape::tools
