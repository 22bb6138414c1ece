// SPDX-License-Identifier: Apache-2.0
#include "trainer/step_profile.h"

#include "steptape/trainer/trainer_options.h"

namespace steptape::detail {
namespace {

ProfilerOptions profilerOptions(std::int64_t steps) {
  ProfilerOptions options;
  options.schedule.skipFirst = kStepsBeforeProfile;
  options.schedule.warmup = 1;
  options.schedule.active = steps;
  options.schedule.repeat = 1;
  return options;
}

}  // namespace

StepProfile::StepProfile(SummaryWriter& writer, std::int64_t steps, Stopwatch& loggingTime)
    : writer_(writer), loggingTime_(loggingTime), stepsLeft_(kStepsBeforeProfile + steps + 1) {
  if (steps > 0) {
    profiler_.emplace(profilerOptions(steps));
  }
}

void StepProfile::step(std::int64_t step) {
  if (!profiler_) {
    return;
  }
  profiler_->step();
  if (--stepsLeft_ == 0) {
    finish(step);
  }
}

void StepProfile::finish(std::int64_t step) {
  if (!profiler_) {
    return;
  }
  profiler_->stop();
  const Stopwatch::Scope timing(loggingTime_);
  profiler_->writeTo(writer_, step);
  profiler_.reset();
}

}  // namespace steptape::detail
