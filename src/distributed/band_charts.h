// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "steptape/writer/summary_writer.h"

namespace steptape::detail {

/// Puts a margin chart for each metric with ReducedOptions::band into a run's layout.
///
/// Not thread-safe: one thread at a time.
class BandCharts {
 public:
  /// Asks for a chart of the metric, once.
  void want(std::uint32_t tagId, const std::string& tag);

  /// Adds the charts that were asked for since the last call to the layout of `writer`, at once:
  /// each addition writes the whole layout again, and TensorBoard shows the last one.
  void write(SummaryWriter& writer);

 private:
  std::vector<bool> isKnown_;  // By tag.
  CustomScalarsLayout added_;
};

}  // namespace steptape::detail
