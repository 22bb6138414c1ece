// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/log/scalar.h"

namespace steptape::detail::metrics {

/// A part of a step by which the ranks' times are compared.
struct TimedPart {
  const char* name;
  bool isWork;  ///< Done by each rank alone: others wait for the slowest.
                ///< longest.
};

/// The distribution of the ranks' times for one part.
struct PartSpread {
  TimedPart part{"", true};
  double mean = 0;
  double median = 0;  ///< For an even number of ranks, the lower middle one.
  double max = 0;
  int slowestRank = 0;  ///< The lowest rank with `max`.
};

/// The result of comparing the ranks' times for a step.
struct StragglerAnalysis {
  std::vector<PartSpread> parts;  ///< In the order of the given parts.
  PartSpread work;                ///< The sum of all parts that are work.
  double slowdown = 1;            ///< Maximum work / median work; 1 if no rank works.
  /// The part of work in which the slowest rank exceeds the median most.
  std::size_t slowestPart = 0;
};

/// Seconds of a rank, by part.
using PartSeconds = std::vector<double>;

/// @param parts         At least one of them is work.
/// @param secondsByRank Seconds of a step for each rank; at least one.
STEPTAPE_EXPORT StragglerAnalysis analyzeStragglers(const std::vector<TimedPart>& parts,
                                                    const std::vector<PartSeconds>& secondsByRank);

/// Adds `<prefix>/slowdown` and `<prefix>/slowest_rank`.
STEPTAPE_EXPORT void addSlowest(StepBatch* batch, const std::string& prefix,
                                const StragglerAnalysis& analysis);

/// Adds, as milliseconds and ranks:
///
///     <prefix>/<part>/mean_ms, max_ms   for each part, and for "work", the sum of those that are
///     <prefix>/<part>/slowest_rank      of work, unless the part took no time
STEPTAPE_EXPORT void addParts(StepBatch* batch, const std::string& prefix,
                              const StragglerAnalysis& analysis);

/// Returns the same as a Markdown table, with a row for each part and a last row for "work".
STEPTAPE_EXPORT std::string partTable(const StragglerAnalysis& analysis,
                                      const std::vector<std::string>& nodeByRank);

/// Returns "rank 3 (node7) needs 1.8 times as long as the median: 12.1 ms a step, 9.8 ms of it
/// input".
STEPTAPE_EXPORT std::string describeStraggler(const StragglerAnalysis& analysis,
                                              const std::vector<PartSeconds>& secondsByRank,
                                              const std::vector<std::string>& nodeByRank);

}  // namespace steptape::detail::metrics
