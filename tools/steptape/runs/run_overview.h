// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "steptape/events/plugin_content.h"
#include "steptape/log/run_reader.h"

#include "tools/steptape/states/run_states.h"

namespace steptape::tools {

/// A number of a scalar tag that a table of runs shows.
struct Metric {
  enum class Of : std::uint8_t { kLast, kMin, kMax };

  std::string tag;
  Of of = Of::kLast;

  /// Reads "loss", "loss:last", "loss:min" or "loss:max".
  static Metric parse(const std::string& text);
  /// Returns what parse() reads, without ":last".
  std::string name() const;
};

struct MetricValue {
  double value = std::numeric_limits<double>::quiet_NaN();
  std::int64_t step = 0;
};

/// Returns the metric of a run; nothing if the run has no scalars under the tag. The least and the
/// largest value are NaN only if all values are; of several equal ones the first counts.
std::optional<MetricValue> metricOf(const RunReader& run, const Metric& metric);

/// A row of a table of runs.
struct RunOverview {
  const RunReader* run = nullptr;
  std::string name;  ///< Its directory, or the URL of that in a bucket.
  RunState state = RunState::kUnknown;
  Hparams hparams;                   ///< Of its first session; empty if it logged none.
  std::optional<std::int64_t> step;  ///< The largest; nothing if there is no point.
  /// Seconds of all sessions, without the times between them; nothing if some time is not in
  /// seconds.
  std::optional<double> trained;
  std::size_t sessions = 0;
  double lastTime = 0;  ///< Of its last event, in seconds since 1970; 0 if there is none.
};

/// REQUIRES: `run` has been read; it outlives the result.
RunOverview overviewOf(const RunReader& run, const RunStates& states);

}  // namespace steptape::tools
