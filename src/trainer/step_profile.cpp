// SPDX-License-Identifier: Apache-2.0
#include "trainer/step_profile.h"

#include <utility>

namespace steptape::detail {

StepProfile::StepProfile(RunState& state, Stopwatch& loggingTime)
    : state_(state), loggingTime_(loggingTime) {
  if (state_.options().profiledSteps > 0) {
    profileSteps();
  } else if (state_.options().profilingShare > 0.0) {
    profileAlways();
  }
}

void StepProfile::step() {
  if (profilers_.empty()) {
    return;
  }
  const Stopwatch::Scope timing(loggingTime_);
  for (OpProfiler& profiler : profilers_) {
    profiler.step();
  }
  if (stepsLeft_ > 0 && --stepsLeft_ == 0) {
    profilers_.back().stop();
    if (state_.options().profilingShare > 0.0) {
      profileAlways();
    }
  }
}

void StepProfile::finish() {
  const Stopwatch::Scope timing(loggingTime_);
  for (OpProfiler& profiler : profilers_) {
    profiler.stop();
    profiler.flush();  // what failed has been told
  }
  profilers_.clear();
}

ProfilerOptions StepProfile::commonOptions() const {
  ProfilerOptions options;
  options.firstStep = state_.progress.step;
  if (state_.world().isRoot()) {
    options.writer = &state_.parts().writer;
  }
  if (state_.world().size() > 1) {
    options.communicator = state_.parts().world;
  }
  return options;
}

void StepProfile::profileSteps() {
  ProfilerOptions options = commonOptions();
  options.schedule.skipFirst = kStepsBeforeProfile;
  options.schedule.warmup = 1;
  options.schedule.active = state_.options().profiledSteps;
  options.schedule.repeat = 1;
  options.onTrace = state_.options().onTrace;
  options.logDir = state_.parts().writer.logDir();
  options.shapes = true;
  options.memory = true;
  stepsLeft_ = kStepsBeforeProfile + 1 + options.schedule.active;
  profilers_.emplace_back(std::move(options));
  profilers_.back().watch(*state_.parts().module);
}

void StepProfile::profileAlways() {
  ProfilerOptions options = commonOptions();
  options.schedule.active = kStepsPerProfile;
  options.maxOverhead = state_.options().profilingShare;
  options.maxTraceSpans = 0;
  profilers_.emplace_back(std::move(options));
}

}  // namespace steptape::detail
