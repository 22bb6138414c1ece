// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <steptape/metrics/straggler_report.h>

namespace example {

struct MeanAndStd {
  double mean = 0;
  double std = 0;
};

MeanAndStd meanAndStd(const std::vector<double>& values);

/// What the profiled steps show.
struct StepDetails {
  std::int64_t steps = 0;
  /// Milliseconds of a step by StepPart, the mean over the ranks.
  std::array<double, steptape::kStepParts> parts{};
  std::string operatorTable;  ///< Of this rank.
};

struct BenchmarkResult {
  std::string model;
  std::string samples;
  int ranks = 1;
  std::int64_t parameters = 0;
  MeanAndStd perRank;  ///< Samples per second.
  MeanAndStd total;    ///< Of all ranks together.
  std::optional<StepDetails> details;
};

/// Returns the result as one line of JSON, without the table.
std::string jsonLine(const BenchmarkResult& result);

/// Returns the result for a terminal.
std::string plainText(const BenchmarkResult& result);

}  // namespace example
