// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "steptape/base/export.h"

#include "process/blackbox/rank_state.h"

namespace steptape::detail::metrics {

/// Returns what each rank does, and who is behind in a collective: a line for each, indented.
///
/// @param states Of ranks of one job; sorted by the call.
/// @param now    Seconds since 1970.
STEPTAPE_EXPORT std::string hangReport(std::vector<process::RankState> states, double now);

/// Returns "72 s", "0.41 s" or "2.5 h".
STEPTAPE_EXPORT std::string secondsText(double seconds);

}  // namespace steptape::detail::metrics
