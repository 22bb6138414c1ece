// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tools/steptape/states/rank_view.h"
#include "tools/steptape/terminal/terminal.h"

namespace steptape::tools {

/// How a rank is doing.
enum class Health : std::uint8_t { kDead, kStopped, kStuck, kSlow, kWaits, kRuns, kEnded };

struct TopRow {
  RankView rank;
  Health health = Health::kRuns;
};

/// Judges ranks that are looked at together, at the time `now`.
std::vector<TopRow> topRows(const std::vector<Job>& jobs, double now);

/// Returns the screen: a summary and one line for each rank, as many as fit the terminal; troubled
/// ranks come first if not all fit.
std::string topText(std::vector<TopRow> rows, double now, const Terminal& terminal);

/// Returns one JSON object on one line.
std::string topJson(const std::vector<TopRow>& rows, double now);

}  // namespace steptape::tools
