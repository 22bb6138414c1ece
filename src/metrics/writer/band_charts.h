// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "steptape/log/summary_writer.h"

namespace steptape::detail::metrics {

/// Adds a margin chart to a run's layout for each metric with ReducedOptions::band.
///
/// @threads Not thread-safe: one thread at a time.
class BandCharts {
 public:
  /// Requests a chart of the metric; repeated requests are ignored.
  void want(std::uint32_t tagId, const std::string& tag);

  /// Adds the charts requested since the last call to the layout of `writer`, all at once: each
  /// addition writes the whole layout again, and TensorBoard shows the last one.
  void write(SummaryWriter& writer);

 private:
  std::vector<bool> isKnown_;  // by tag
  CustomScalarsLayout added_;
};

}  // namespace steptape::detail::metrics
