// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/reader/run_reader.h"

namespace steptape {

/// Which statistics the custom-scalars page of TensorBoard shows as a band around the mean.
enum class AggregateBand {
  kNone,
  kMinMax,
  kDeviation,    ///< Mean minus and plus standard deviation: `<tag>/lower` and `<tag>/upper`.
  kPercentiles,  ///< From the least to the largest of AggregateOptions::percentiles.
};

/// How runs are aggregated.
struct AggregateOptions {
  /// Which tags to aggregate; all scalars if empty. Called once for each tag.
  std::function<bool(std::string_view tag)> wantsTag;
  /// A step counts if at least this many runs have a value there. 0: all runs that have the tag, so
  /// that each point of a curve comes from the same runs.
  std::size_t minRuns = 0;
  /// Whether a run has a value between two of its steps, too: on the line between the two points.
  /// Runs are never extended beyond their first and last step.
  bool interpolate = false;
  std::vector<double> percentiles = {25, 50, 75};  ///< Each from 0 to 100.
  AggregateBand band = AggregateBand::kMinMax;
};

/// Statistics of the values that several runs have at one step.
struct AggregatePoint {
  std::int64_t step = 0;
  double wallTime = 0;  ///< Mean of the runs' wall times. @units Seconds since 1970, UTC.
  std::size_t runs = 0;
  double mean = 0;
  double std = 0;  ///< Standard deviation of a sample (n - 1); NaN for one run.
  double min = 0;
  double max = 0;
  /// As AggregateOptions::percentiles orders them, interpolated as numpy.percentile() does.
  std::vector<double> percentiles;
};

/// A scalar tag of several runs.
struct AggregateSeries {
  std::string tag;
  std::size_t runs = 0;                ///< That have the tag.
  std::size_t steps = 0;               ///< At which enough runs have a value.
  std::size_t stepsLeftOut = 0;        ///< At which fewer runs have a value than are needed.
  std::vector<AggregatePoint> points;  ///< One for each of `steps`, ascending.
};

/// Aggregates one tag of several runs, step by step.
///
/// A run that has several values at a step counts with the one it wrote last. A NaN makes all
/// statistics of its step NaN; infinities follow the arithmetic of doubles.
///
/// @param runs The scalars of each run that has the tag. Steps in any order.
/// @return without a tag; no points if no step has enough runs.
/// @throws Error(kInvalidArgument) if a percentile is not from 0 to 100.
/// @threads Thread-safe.
/// @cost    Linear in the points of all runs, which are copied.
STEPTAPE_EXPORT AggregateSeries aggregateScalars(const std::vector<const ScalarColumns*>& runs,
                                                 const AggregateOptions& options = {});

/// What aggregateRuns() has written.
struct AggregateResult {
  std::vector<AggregateSeries> series;   ///< By tag, each with its last point only.
  std::vector<std::string> tagsLeftOut;  ///< Scalar tags that too few runs have.
};

/// Aggregates the scalars of runs, such as one training with several seeds, and writes the result
/// as a run of its own:
///
///     loss         mean, which has the tag of the runs
///     loss/std     standard deviation; also loss/min, loss/max, loss/p25, loss/p50, loss/p75
///     aggregated runs   a text that lists the runs
///
/// and a chart of each tag with its band for TensorBoard's custom-scalars page.
///
/// @param runs      At least two, updated. A tag counts if two or more runs have it, or as many as
///                  AggregateOptions::minRuns says.
/// @param directory Of the new run; is made, and must hold no event file.
/// @throws Error(kInvalidArgument) if there are fewer than two runs, more are needed than there
///         are, no tag counts, a percentile is not from 0 to 100 or is missing for the band, or a
///         tag of the runs is also the name of a statistic;
///         Error(kFailedPrecondition) if `directory` holds event files;
///         Error(kIoError) if it cannot be written.
/// @threads Thread-safe, if the directories differ.
/// @cost    Memory for the points of one tag in all runs.
STEPTAPE_EXPORT AggregateResult aggregateRuns(const std::vector<RunReader>& runs,
                                              const std::string& directory,
                                              const AggregateOptions& options = {});

}  // namespace steptape
