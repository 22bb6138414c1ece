// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tools/steptape/runs/run_summary.h"
#include "tools/steptape/terminal/terminal.h"

namespace steptape::tools {

// The tables of `steptape inspect`. Lines fit a terminal; in pipes and files nothing is shortened.

inline constexpr int kInspectIndent = 2;

/// Returns the maximum width of a line.
int lineColumns(const Terminal& terminal);

/// Returns a table of scalars: points, steps, values and a curve for each. REQUIRES: not empty.
std::string scalarTable(const std::vector<const TagSummary*>& tags, const Terminal& terminal);

/// Returns a table of tags of any other plugin. REQUIRES: not empty.
std::string otherTable(const std::vector<const TagSummary*>& tags, const Terminal& terminal);

}  // namespace steptape::tools
