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

/// An operator in two profiles. Of module tables `name` is the module.
struct OpDiff {
  std::string name;
  SpanKind kind = SpanKind::kOperator;
  std::string shapes;
  /// Nanoseconds of self time a step, old and new; none where the operator does not occur.
  std::array<std::optional<double>, 2> self;

  double change() const { return self[1].value_or(0) - self[0].value_or(0); }
};

/// What of a step, or a window, takes longer in one of two profiles.
struct ProfileDiff {
  bool isPerStep = false;  ///< Else per window: one of the profiles has no steps.
  /// Of both profiles, old and new, over all steps of all ranks; of windows only `total` is known.
  std::array<StepSummary, 2> means;
  std::array<std::size_t, 2> counts{};  ///< Steps, or windows, that these are means of.
  std::vector<OpDiff> operators;        ///< The largest change first, whatever its sign.

  /// By how many percent the total grew; negative if it shrank.
  double growthPercent() const;
};

/// Compares self times: what a step spent in an operator itself, on all threads. Where both
/// profiles have steps, what was between steps does not count.
ProfileDiff compareProfiles(const TraceSet& older, const TraceSet& newer, OpGrouping grouping);

}  // namespace steptape::tools
