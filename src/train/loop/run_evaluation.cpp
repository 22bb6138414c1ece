// SPDX-License-Identifier: Apache-2.0
#include "train/loop/run_evaluation.h"

#include <array>

#include "train/loop/run_setup.h"
#include "train/loop/stopwatch.h"

namespace steptape::detail::train {

RunEvaluation::RunEvaluation(RunState& state, const Objective& objective, BatchLoader& test,
                             StepLog& log)
    : state_(state),
      objective_(objective),
      test_(test),
      log_(log),
      evaluator_(*state.parts().module, state.parts().world, state.options().metrics),
      best_(state.options().monitor, higherIsBetter(state.options())) {}

void RunEvaluation::start() {
  std::array<int, 1> has{state_.parts().callbacks.has(TrainerEvent::kAfterEvaluation) ? 1 : 0};
  state_.world().allreduce(has, ReduceOp::kMax);
  hasCallbackAfter_ = has.front() != 0;
}

bool RunEvaluation::evaluate() {
  repeat();
  step_ = state_.progress.step;
  // A resumed run with no steps left has logged it before.
  if (state_.loggedEvaluation != step_) {
    const Stopwatch::Scope timing(log_.time());
    evaluator_.log(state_.parts().writer, step_);
    state_.loggedEvaluation = step_;
  }
  const auto& monitor = state_.options().monitor;
  if (monitor.metric.empty()) {
    return false;
  }
  const bool isBest = best_.observe(state_.context.metric(monitor.metric), step_);
  if (best_.isExhausted()) {
    state_.stopFor(StopReason::kMonitor);
  }
  return isBest && monitor.keepBest;
}

}  // namespace steptape::detail::train
