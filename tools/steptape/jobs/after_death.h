// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

namespace steptape::tools {

/// Reports what is left of a job that died, as lines on standard error below the one that says how
/// it ended.
///
/// @param run   The directory of its run; empty if that is not known.
/// @param since When it was started, in seconds since 1970: earlier processes are not meant.
void afterDeath(const std::string& run, double since);

/// Returns how many processes that logged into the run have died since then, as far as they left a
/// trace.
std::size_t diedSince(const std::string& run, double since);

}  // namespace steptape::tools
