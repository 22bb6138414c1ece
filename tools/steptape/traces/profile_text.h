// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "tools/steptape/terminal/terminal.h"
#include "tools/steptape/traces/trace_files.h"
#include "tools/steptape/traces/trace_profile.h"
#include "values/kinds/table_cells.h"

namespace steptape::tools {

/// The blanks before what follows a title.
inline constexpr int kProfileIndent = 2;

/// What of the operators `steptape profile` shows.
struct OpTableView {
  OpGrouping grouping = OpGrouping::kName;
  OpOrder order = OpOrder::kSelf;
  std::size_t rows = SIZE_MAX;
};

/// What `steptape profile` prints of one process: where it ran, what its steps are made of, its
/// operators, its memory.
std::string profileText(const TraceSet& set, const TraceProfile& profile, const OpTableView& view,
                        const Terminal& terminal);

/// What it prints of several: the list of them, the slowest one, and means with the largest and
/// whose that is.
std::string jobProfileText(const TraceSet& set, const JobProfile& job, const OpTableView& view,
                           const Terminal& terminal);

using detail::values::millisecondsText;

/// What a row of an operator table is called: with its shapes where rows are by shape.
std::string operatorText(const std::string& name, const std::string& shapes);

/// The title of the column of these.
const char* operatorTitle(OpGrouping grouping);

/// What follows a table that shows `count` of `all` operators; empty if that is all.
std::string leftOutLine(std::size_t count, std::size_t all);

}  // namespace steptape::tools
