// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/log/run_reader.h"

namespace steptape {

/// What stands for all runs at a step.
enum class AggregateCenter {
  kMean,
  /// The interquartile mean: that of the middle half of the runs, after a quarter of them, rounded
  /// down, is cut off at each end.
  /// @source Agarwal et al., "Deep Reinforcement Learning at the Edge of the Statistical
  ///         Precipice", arXiv:2108.13264; rliable computes it by scipy.stats.trim_mean(0.25).
  kInterquartileMean,
};

/// The band around the center on TensorBoard's custom-scalars page.
enum class AggregateBand {
  kNone,
  kMinMax,
  kDeviation,    ///< Mean minus and plus standard deviation: `<tag>/lower` and `<tag>/upper`.
  kPercentiles,  ///< From the least to the largest of AggregateOptions::percentiles.
  /// The 95 % confidence interval of the center, `<tag>/lower` and `<tag>/upper`: percentiles of
  /// 2000 bootstrap samples of the runs, by random numbers that are always the same.
  kConfidence,
};

/// Options of aggregateScalars() and aggregateRuns().
struct AggregateOptions {
  /// Selects the tags to aggregate; empty: all scalars. Called once for each tag.
  std::function<bool(std::string_view tag)> wantsTag;
  /// The fewest runs with a tag for the tag to count, and with a value at a step for the step to
  /// count. 0: two runs for a tag, and all runs with the tag for a step, so that all points of a
  /// curve come from the same runs. With 1, a tag of a single run is its own mean.
  std::int64_t minRuns = 0;
  /// Whether to interpolate a run linearly between its steps. Runs are never extrapolated before
  /// their first or after their last step.
  bool interpolate = false;
  std::vector<double> percentiles = {25, 50, 75};  ///< Each from 0 to 100.
  AggregateBand band = AggregateBand::kMinMax;
  AggregateCenter center = AggregateCenter::kMean;
};

/// Statistics of the values of several runs at one step.
struct AggregatePoint {
  std::int64_t step = 0;
  double wallTime = 0;  ///< Mean of the runs' wall times. @units Seconds since 1970, UTC.
  std::size_t runs = 0;
  double mean = 0;
  double center = 0;  ///< AggregateOptions::center.
  /// The confidence interval of the center, with AggregateBand::kConfidence; NaN for one run.
  double lower = 0;
  double upper = 0;
  double std = 0;  ///< Sample standard deviation (n - 1); NaN for one run.
  double min = 0;
  double max = 0;
  /// In the order of AggregateOptions::percentiles, interpolated as in numpy.percentile().
  std::vector<double> percentiles;
};

/// The statistics of one scalar tag of several runs.
struct AggregateSeries {
  std::string tag;
  std::size_t runs = 0;                ///< Runs with the tag.
  std::size_t steps = 0;               ///< Steps at which enough runs have a value.
  std::size_t stepsLeftOut = 0;        ///< Steps at which too few runs have a value.
  std::vector<AggregatePoint> points;  ///< One for each of `steps`, ascending.
};

/// Aggregates one tag of several runs, step by step.
///
/// If a run has several values at a step, the last-written one counts. A NaN makes all statistics
/// of its step NaN; infinities follow the arithmetic of doubles.
///
/// @param runs    The scalars of each run with the tag, with steps in any order.
/// @param options See AggregateOptions; `wantsTag` and `band` are not used.
/// @return the series, with an empty tag; without points if no step has enough runs.
/// @throws Error(kInvalidArgument) if a percentile is not from 0 to 100.
/// @threads Thread-safe.
/// @cost    Linear in the points of all runs, which are copied.
STEPTAPE_EXPORT AggregateSeries aggregateScalars(const std::vector<const ScalarColumns*>& runs,
                                                 const AggregateOptions& options = {});

/// Two scalar tags whose curves would have the same name: "loss/max" is a tag of the runs, and the
/// maximum of "loss".
struct AggregateConflict {
  std::string name;
  std::string tag;       ///< Has the name as a statistic.
  std::string otherTag;  ///< Has the name too.
};

/// The result of aggregateRuns().
struct AggregateResult {
  std::vector<AggregateSeries> series;       ///< By tag, each with only its last point.
  std::vector<std::string> tagsLeftOut;      ///< Scalar tags of too few runs.
  std::vector<AggregateConflict> conflicts;  ///< Of tags that are left out for them.
};

/// Aggregates the scalars of several runs, such as one training with several seeds, and writes the
/// result as a new run:
///
///     loss         mean or AggregateOptions::center, under the tag of the runs
///     loss/std     standard deviation; also loss/min, loss/max, loss/p25, loss/p50, loss/p75
///     aggregated runs   a text that lists the runs
///
/// and a chart of each tag with its band for TensorBoard's custom-scalars page.
///
/// Tags of which one is named like a statistic of the other are left out: see
/// AggregateResult::conflicts.
///
/// @param runs      After update(). A tag counts if AggregateOptions::minRuns of them have it.
/// @param directory The directory of the new run; created, and must contain no event file.
/// @param options   See AggregateOptions.
/// @throws Error(kInvalidArgument) if there are fewer runs than a tag needs, no tag counts, every
///         tag is in a conflict, or a percentile is not from 0 to 100 or is missing for the band;
///         Error(kFailedPrecondition) if `directory` contains event files;
///         Error(kIoError) if it cannot be written. Nothing of the new run is then there: its file
///         appears when it is whole.
/// @threads Thread-safe with distinct directories.
/// @cost    Memory for the points of one tag in all runs.
STEPTAPE_EXPORT AggregateResult aggregateRuns(const std::vector<RunReader>& runs,
                                              const std::string& directory,
                                              const AggregateOptions& options = {});

}  // namespace steptape
