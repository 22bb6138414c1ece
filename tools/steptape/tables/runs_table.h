// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tools/steptape/runs/run_columns.h"
#include "tools/steptape/terminal/terminal.h"

namespace steptape::tools {

/// The columns that a table of runs has besides the fixed ones.
struct RunsColumns {
  std::vector<RunColumn> hparams;
  std::vector<RunColumn> metrics;
};

/// Returns a table for people, a row a run.
std::string runsText(const std::vector<RunOverview>& runs, const RunsColumns& columns, double now,
                     const Terminal& terminal);

/// Returns one JSON object, with everything that the runs say.
std::string runsJson(const std::vector<RunOverview>& runs, const RunsColumns& columns, double now);

/// Returns lines of CSV with titles.
std::string runsCsv(const std::vector<RunOverview>& runs, const RunsColumns& columns);

}  // namespace steptape::tools
