// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tools/steptape/runs/run_overview.h"

namespace steptape::tools {

/// What a table of runs says of one run: nothing, a number, or a text.
using RunCell = std::variant<std::monostate, double, std::string>;

/// A column of a table of runs.
struct RunColumn {
  enum class Kind : std::uint8_t {
    kRun,
    kState,
    kStep,
    kTrained,
    kAge,
    kSessions,
    kHparam,
    kMetric
  };

  Kind kind = Kind::kRun;
  std::string name;          ///< As users write it.
  Metric metric = {};        ///< For kMetric.
  std::string title = name;  ///< See setTitles().

  /// @param now Seconds since 1970.
  RunCell cellOf(const RunOverview& run, double now) const;
};

/// Returns a hyperparameter of a run; null if it has none of this name.
const HparamValue* hparamOf(const RunOverview& run, const std::string& name);

/// Returns the number that a hyperparameter has as text, such as "1e-05". Names that could be read
/// as one are none: "nan", "0012345", "12e4567".
std::optional<double> numberOfText(const std::string& text);

/// Finds a column: "run", "state", "step", "trained", "age", "sessions", a hyperparameter, or a
/// metric, in this order. Returns nothing if no run has such a value.
std::optional<RunColumn> findColumn(const std::string& name, const std::vector<RunOverview>& runs);

/// Returns what findColumn() finds.
///
/// @throws Error(kInvalidArgument) with what was expected if no run has such a value; `option` is
///         where the name was given.
RunColumn columnOf(const std::string& name, const std::vector<RunOverview>& runs,
                   std::string_view option);

/// Finds the column of a metric; see Metric::parse().
/// @throws as columnOf()
RunColumn metricColumnOf(const std::string& name, const std::vector<RunOverview>& runs,
                         std::string_view option);

/// Returns the hyperparameters of the runs, in the order of their names: all, or those that differ.
std::vector<RunColumn> hparamColumns(const std::vector<RunOverview>& runs, bool onlyDiffering);

/// Sorts by a column: ascending, and metrics `:max` descending, so that the best are first.
/// Texts that are numbers count as these. `reverse` turns the order around. Runs without the value,
/// or with NaN, are last in any case.
void sortRuns(std::vector<RunOverview>* runs, const RunColumn& column, bool reverse, double now);

}  // namespace steptape::tools
