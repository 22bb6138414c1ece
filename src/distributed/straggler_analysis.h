// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "steptape/distributed/step_times.h"

namespace steptape::detail {

/// How the ranks' times for one part lie.
struct PartSpread {
  double mean = 0;
  double median = 0;  ///< Of an even number of ranks, the lower one of the middle.
  double max = 0;
  int slowestRank = 0;  ///< The lowest rank that has `max`.
};

/// What the ranks' times for a step say.
struct StragglerAnalysis {
  std::array<PartSpread, kStepParts> parts;  ///< By StepPart.
  PartSpread work;                           ///< The sum of all parts but StepPart::kWait.
  double slowdown = 1;                       ///< Most work / median work; 1 where nobody works.
  StepPart slowestPart = StepPart::kInput;   ///< Where the slowest rank is most behind the median.
};

using StepSeconds = std::array<double, kStepParts>;

/// @param secondsByRank Of a step, for each rank; at least one.
StragglerAnalysis analyseStragglers(const std::vector<StepSeconds>& secondsByRank);

/// "rank 3 (node7) needs 1.8 times as long as the median: 12.1 ms a step, 9.8 ms of it input".
std::string describeStraggler(const StragglerAnalysis& analysis,
                              const std::vector<StepSeconds>& secondsByRank,
                              const std::vector<std::string>& nodeByRank);

}  // namespace steptape::detail
