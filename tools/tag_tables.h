// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tools/run_summary.h"
#include "tools/terminal.h"

namespace steptape::tools {

// The tables of `steptape inspect`. Lines fit a terminal; elsewhere nothing is shortened.

inline constexpr int kInspectIndent = 2;

/// The columns that a line may take.
int lineColumns(const Terminal& terminal);

/// `text` from a file as it can be printed: where nobody watches it keeps all its characters but
/// those that control a terminal.
std::string shown(const std::string& text, const Terminal& terminal);
/// The same, its middle left out where that is wider than `columns` of a terminal.
std::string cut(const std::string& text, int columns, const Terminal& terminal);

/// Scalars: points, steps, values, a curve each. REQUIRES: not empty.
std::string scalarTable(const std::vector<const TagSummary*>& tags, const Terminal& terminal);

/// Tags of any other plugin. REQUIRES: not empty.
std::string otherTable(const std::vector<const TagSummary*>& tags, const Terminal& terminal);

}  // namespace steptape::tools
