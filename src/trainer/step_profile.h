// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>

#include "steptape/torch/op_profiler.h"

#include "profile/profile_trigger.h"
#include "trainer/run_state.h"
#include "trainer/stopwatch.h"

namespace steptape::detail {

/// Times operators as TrainerOptions say: some steps in all detail, at the start and when the job
/// receives a trigger, and outside of them, at a bounded cost, the whole run.
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
  void profileSteps(std::int64_t skipped, std::int64_t steps);
  void endSteps();
  void profileAlways();
  void followTrigger();
  /// Collective, as the next two.
  OpProfiler& begin(const OpProfilerOptions& options);
  void stop();
  void finishBut(std::size_t newest);
  OpProfilerOptions commonOptions() const;

  RunState& state_;
  Stopwatch& loggingTime_;
  std::int64_t stepsLeft_ = 0;  // until the detailed profile is done
  std::optional<ProfileTrigger> trigger_;
  /// At most one that runs, the last, and one that is done and sends the root what its ranks found.
  std::list<OpProfiler> profilers_;
};

}  // namespace steptape::detail
