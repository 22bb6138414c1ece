// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <list>

#include "steptape/torch/op_profiler.h"

#include "trainer/run_state.h"
#include "trainer/stopwatch.h"

namespace steptape::detail {

/// Times operators as TrainerOptions say: some steps in all detail, and after them, at a bounded
/// cost, the whole run.
///
/// Not thread-safe: one thread at a time, the communicator's. All ranks call it, in the same steps.
class StepProfile {
 public:
  StepProfile(RunState& state, Stopwatch& loggingTime);

  /// Behind each step.
  void step();
  /// Writes what there is. Collective.
  void finish();

 private:
  void profileSteps();
  void profileAlways();
  ProfilerOptions commonOptions() const;

  RunState& state_;
  Stopwatch& loggingTime_;
  std::int64_t stepsLeft_ = 0;  // until the detailed profile is done
  /// At most one that runs, the last; one that is done sends the root what its ranks found.
  std::list<OpProfiler> profilers_;
};

}  // namespace steptape::detail
