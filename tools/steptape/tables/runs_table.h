// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tools/steptape/columnar/column_file.h"
#include "tools/steptape/runs/run_columns.h"
#include "tools/steptape/terminal/terminal.h"

namespace steptape::tools {

/// The columns that a table of runs has besides the fixed ones.
struct RunsColumns {
  std::vector<RunColumn> hparams;
  std::vector<RunColumn> metrics;
};

/// What the columns are shown in.
enum class RunsForm { kTable, kJson, kFile };

/// Gives each column a title that no other one has, by the rule of `steptape export`. The fixed
/// columns keep theirs, then the hyperparameters.
///
/// @param notes Receives a sentence about each title that is not the name of its column.
void setTitles(RunsColumns* columns, RunsForm form, std::vector<std::string>* notes);

/// Returns a table for people, a row a run.
std::string runsText(const std::vector<RunOverview>& runs, const RunsColumns& columns, double now,
                     const Terminal& terminal);

/// Returns one JSON object, with everything that the runs say.
std::string runsJson(const std::vector<RunOverview>& runs, const RunsColumns& columns, double now);

/// Returns lines of CSV with titles.
std::string runsCsv(const std::vector<RunOverview>& runs, const RunsColumns& columns);
/// Returns the types of its columns: what text the fields hold does not tell.
std::vector<ColumnFile::Type> typesOf(const std::vector<RunOverview>& runs,
                                      const RunsColumns& columns);

}  // namespace steptape::tools
