// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
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
  std::string name;    ///< As users write it.
  Metric metric = {};  ///< For kMetric.

  /// @param now Seconds since 1970.
  RunCell cellOf(const RunOverview& run, double now) const;
};

/// Finds a column: "run", "state", "step", "trained", "age", "sessions", a hyperparameter, or a
/// metric, in this order.
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

/// A condition such as "lr>0.01".
class RunCondition {
 public:
  /// @throws Error(kInvalidArgument) if the text has no comparison, or names no column.
  RunCondition(const std::string& text, const std::vector<RunOverview>& runs);

  /// A run without the value fulfills only `!=`.
  bool holdsFor(const RunOverview& run, double now) const;

 private:
  enum class Comparison : std::uint8_t {
    kLess,
    kLessEqual,
    kEqual,
    kNotEqual,
    kGreaterEqual,
    kGreater
  };
  struct Operator;
  static const std::vector<Operator>& operators();

  template <typename T>
  bool compare(const T& left, const T& right) const;

  RunColumn column_;
  Comparison comparison_ = Comparison::kEqual;
  std::string text_;   // to compare with
  double number_ = 0;  // the same; NaN if it is none
};

/// Sorts by a column: ascending, and metrics `:max` descending, so that the best are first.
/// `reverse` turns that around. Runs without the value, or with NaN, are last in any case.
void sortRuns(std::vector<RunOverview>* runs, const RunColumn& column, bool reverse, double now);

}  // namespace steptape::tools
