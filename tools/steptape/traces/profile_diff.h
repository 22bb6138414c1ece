// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "steptape/profile/trace_summary.h"

#include "tools/steptape/traces/trace_files.h"
#include "tools/steptape/traces/trace_profile.h"

namespace steptape::tools {

/// An operator in two profiles. In module tables, `name` is the module.
struct OpDiff {
  std::string name;
  SpanKind kind = SpanKind::kOperator;
  std::string shapes;
  /// Nanoseconds of self time per step, old and new; none if the operator does not occur.
  std::array<std::optional<double>, 2> self;

  double change() const { return self[1].value_or(0) - self[0].value_or(0); }
};

/// The differences between the times of two profiles, per step or per window.
struct ProfileDiff {
  bool isPerStep = false;  ///< Else per window: one of the profiles has no steps.
  /// Of both profiles, old and new, over all steps of all ranks; for windows, only `total` is
  /// known.
  std::array<StepSummary, 2> means;
  std::array<std::size_t, 2> counts{};  ///< Number of steps or windows in these means.
  std::vector<OpDiff> operators;        ///< The largest change first, whatever its sign.

  /// Returns the growth of the total in percent; negative if it shrank.
  double growthPercent() const;
};

/// Compares self times: the time per step in an operator itself, on all threads. If both profiles
/// have steps, time between steps does not count.
ProfileDiff compareProfiles(const TraceSet& older, const TraceSet& newer, OpGrouping grouping);

}  // namespace steptape::tools
