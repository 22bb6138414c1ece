// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>

#include "steptape/libtorch/op_profiler.h"

#include "profile/recorder/profile_trigger.h"
#include "train/loop/run_state.h"
#include "train/loop/stopwatch.h"

namespace steptape::detail::train {

/// Profiles operators according to TrainerOptions: some steps in full detail, at the start and when
/// the job receives a trigger; and all other steps at a bounded cost.
///
/// @threads Not thread-safe: one thread at a time, the communicator's. All ranks call it in the
///          same steps.
class StepProfile {
 public:
  StepProfile(RunState& state, Stopwatch& loggingTime);

  /// Call it after each step.
  void step();
  /// Writes the profiles. Collective.
  void finish();

 private:
  void profileSteps(std::int64_t skipped, std::int64_t steps);
  void endSteps();
  void profileAlways();
  void followTrigger();
  /// Collective, like the next two.
  OpProfiler& begin(const OpProfilerOptions& options);
  void stop();
  void finishBut(std::size_t newest);
  OpProfilerOptions commonOptions() const;

  RunState& state_;
  Stopwatch& loggingTime_;
  std::int64_t stepsLeft_ = 0;  // until the detailed profile is done
  std::optional<profile::ProfileTrigger> trigger_;
  /// At most one running profiler, the last one, and one that is done and sends its ranks' results
  /// to the root.
  std::list<OpProfiler> profilers_;
};

}  // namespace steptape::detail::train
