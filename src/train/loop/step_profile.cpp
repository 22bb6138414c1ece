// SPDX-License-Identifier: Apache-2.0
#include "train/loop/step_profile.h"

namespace steptape::detail::train {

StepProfile::StepProfile(RunState& state, Stopwatch& loggingTime)
    : state_(state), loggingTime_(loggingTime) {
  const TrainerOptions& options = state_.options();
  if (options.profileTrigger.isSet()) {
    trigger_.emplace(options.profileTrigger, state_.parts().world);
    trigger_->arm();
  }
  if (options.profiledSteps > 0) {
    profileSteps(kStepsBeforeProfile, options.profiledSteps);
  } else if (options.profilingShare > 0.0) {
    profileAlways();
  }
}

void StepProfile::step() {
  if (profilers_.empty() && !trigger_) {
    return;
  }
  const Stopwatch::Scope timing(loggingTime_);
  for (OpProfiler& profiler : profilers_) {
    profiler.step();
  }
  if (stepsLeft_ > 0 && --stepsLeft_ == 0) {
    endSteps();
  }
  if (trigger_) {
    followTrigger();
  }
}

void StepProfile::followTrigger() {
  const std::int64_t steps = state_.options().profiledSteps;
  switch (trigger_->endStep(stepsLeft_ > 0)) {
    case profile::TriggerWish::kNone:
      break;
    case profile::TriggerWish::kBegin:
      stop();  // only one can run at a time
      profileSteps(0, steps > 0 ? steps : kStepsPerTriggeredProfile);
      break;
    case profile::TriggerWish::kEnd:
      endSteps();
      break;
  }
}

void StepProfile::finish() {
  const Stopwatch::Scope timing(loggingTime_);
  stop();
  finishBut(0);
}

OpProfiler& StepProfile::begin(const OpProfilerOptions& options) {
  finishBut(1);
  return profilers_.emplace_back(options);
}

void StepProfile::stop() {
  if (!profilers_.empty()) {
    profilers_.back().stop();
  }
}

void StepProfile::finishBut(std::size_t newest) {
  while (profilers_.size() > newest) {
    static_cast<void>(profilers_.front().flush());  // the failure has been reported
    profilers_.pop_front();
  }
}

OpProfilerOptions StepProfile::commonOptions() const {
  OpProfilerOptions options;
  options.firstStep = state_.progress.step;
  options.detailScalars = state_.options().detailScalars;
  if (state_.world().isRoot()) {
    options.writer = &state_.parts().writer.localWriter();
  }
  if (state_.world().size() > 1) {
    options.communicator = state_.parts().world;
  }
  return options;
}

void StepProfile::profileSteps(std::int64_t skipped, std::int64_t steps) {
  OpProfilerOptions options = commonOptions();
  options.schedule.skipFirst = skipped;
  options.schedule.warmup = 1;
  options.schedule.active = steps;
  options.schedule.repeat = 1;
  options.onTrace = state_.options().onTrace;
  options.logDir = state_.parts().writer.logDir();
  options.shapes = true;
  options.memory = true;
  stepsLeft_ = skipped + options.schedule.warmup + steps;
  begin(options).watch(*state_.parts().module);
}

void StepProfile::endSteps() {
  stepsLeft_ = 0;
  stop();
  if (state_.options().profilingShare > 0.0) {
    profileAlways();
  }
}

void StepProfile::profileAlways() {
  OpProfilerOptions options = commonOptions();
  options.schedule.active = kStepsPerProfile;
  options.maxOverhead = state_.options().profilingShare;
  options.maxTraceSpans = 0;
  options.deviceTimes = false;  // two events per operator cost more than everything else
  begin(options);
}

}  // namespace steptape::detail::train
