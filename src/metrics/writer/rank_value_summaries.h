// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "steptape/log/summary_writer.h"
#include "steptape/metrics/distributed_writer.h"

#include "metrics/reduce/rank_values.h"

namespace steptape::detail::metrics {

/// Writes summaries of the values of all ranks: percentiles as `<tag>/p50`, the histogram as
/// `<tag>/ranks`.
///
/// @threads Not thread-safe: one thread at a time.
class RankValueSummaries {
 public:
  /// Sets which summaries of the metric to write. The last call counts.
  void describe(std::uint32_t tagId, const ReducedOptions& options);

  /// @param values As rankValuesAt() sets them; at least one.
  void add(SummaryWriter& writer, std::int64_t step, const std::string& tag, std::uint32_t tagId,
           const std::vector<RankValue>& values, std::optional<double> wallTime) const;

 private:
  struct Wanted {
    std::vector<double> percentiles;
    bool histogram = false;
  };
  std::vector<Wanted> wantedByTag_;
};

}  // namespace steptape::detail::metrics
