// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/writer/step_batch.h"

namespace steptape::detail {

/// Something of a step that the ranks' times are compared in.
struct TimedPart {
  const char* name;
  bool isWork;  ///< The rank's own: the others wait for who takes longer for it.
};

/// How the ranks' times for one part lie.
struct PartSpread {
  TimedPart part{"", true};
  double mean = 0;
  double median = 0;  ///< Of an even number of ranks, the lower one of the middle.
  double max = 0;
  int slowestRank = 0;  ///< The lowest rank that has `max`.
};

/// What the ranks' times for a step say.
struct StragglerAnalysis {
  std::vector<PartSpread> parts;  ///< As the parts that were given.
  PartSpread work;                ///< The sum of all parts that are work.
  double slowdown = 1;            ///< Most work / median work; 1 if no rank works.
  /// Of the parts that are work, the one in which the slowest rank is most behind the median.
  std::size_t slowestPart = 0;
};

/// A rank's seconds, by part.
using PartSeconds = std::vector<double>;

/// @param parts         At least one of them is work.
/// @param secondsByRank Of a step, for each rank; at least one.
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

/// The same as a Markdown table, with a row for each part and a last one for "work".
STEPTAPE_EXPORT std::string partTable(const StragglerAnalysis& analysis,
                                      const std::vector<std::string>& nodeByRank);

/// "rank 3 (node7) needs 1.8 times as long as the median: 12.1 ms a step, 9.8 ms of it input".
STEPTAPE_EXPORT std::string describeStraggler(const StragglerAnalysis& analysis,
                                              const std::vector<PartSeconds>& secondsByRank,
                                              const std::vector<std::string>& nodeByRank);

}  // namespace steptape::detail
