// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "steptape/torch/op_profiler.h"
#include "steptape/writer/summary_writer.h"

#include "trainer/stopwatch.h"

namespace steptape::detail {

/// Times some steps operator by operator, once in a run, and writes the table.
///
/// Not thread-safe: one thread at a time.
class StepProfile {
 public:
  /// @param steps How many, behind kStepsBeforeProfile; 0: none.
  StepProfile(SummaryWriter& writer, std::int64_t steps, Stopwatch& loggingTime);

  /// Behind each step.
  void step(std::int64_t step);
  /// Writes what there is, if it was not written yet.
  void finish(std::int64_t step);

 private:
  SummaryWriter& writer_;
  Stopwatch& loggingTime_;
  std::int64_t stepsLeft_;
  std::optional<OpProfiler> profiler_;
};

}  // namespace steptape::detail
