// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace steptape::tools {

/// Reports what is left of a job that died, as lines on standard error below the one that says how
/// it ended.
///
/// @param run   The directory of its run; empty if that is not known.
/// @param since When it was started, in seconds since 1970: earlier processes are not meant.
void afterDeath(const std::string& run, double since);

/// What the processes that were started since then and logged into the run have left.
struct Remains {
  std::size_t died = 0;
  std::optional<int> exitCode;  ///< Of the first that called exit() while its job ran.
};
Remains remainsSince(const std::string& run, double since);

}  // namespace steptape::tools
