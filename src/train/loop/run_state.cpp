// SPDX-License-Identifier: Apache-2.0
#include "train/loop/run_state.h"

#include <algorithm>

#include "train/replicas/model/rank_failures.h"

namespace steptape::detail::train {
RunState::RunState(TrainerParts& parts)
    : context(*parts.module, parts.optimizer, parts.writer, *parts.world),
      parts_(parts),
      limits_(parts.options, parts.world->isRoot()),
      // A duplicate: GradientSync has buckets in flight that not every rank has started yet.
      exchange_(parts.world->duplicate()) {}

void RunState::stopFor(StopReason reason) {
  stop_ = std::max(stop_.value_or(reason), reason);
}

void RunState::call(TrainerEvent event) {
  if (parts_.callbacks.has(event)) {
    copy.wait();
  }
  parts_.callbacks.call(event, context);
}

StepWish RunState::wish() const {
  StepWish wish = limits_.wish();
  wish.failed = parts_.callbacks.failed();
  if (context.stopRequested) {
    wish.stop = std::max(wish.stop.value_or(StopReason::kCallback), StopReason::kCallback);
  }
  return wish;
}

void RunState::postStep(double loss, double samples, bool hasStep) {
  exchange_.post(wish(), progress.step, loss, samples, hasStep);
}

void RunState::agreeOnStep() {
  const StepWish agreed = exchange_.read();
  if (agreed.failed) {
    throwIfAnyRankFailed(parts_.callbacks.failure(), world(), ErrorCode::kFailedPrecondition,
                         "Trainer: a callback threw");
  }
  if (agreed.stop) {
    stopFor(*agreed.stop);
    signal_ = agreed.signal;
  }
  checkpointIsDue_ = checkpointIsDue_ || agreed.checkpoint;
  if (exchange_.loss().weight > 0) {
    loss_ = exchange_.loss();
  }
  input_ = exchange_.input();
}

void RunState::agree() {
  agreeOnLoss(0, 0);
}

void RunState::agreeOnLoss(double loss, double samples) {
  const StepExchange::Input input = input_;
  postStep(loss, samples, false);
  agreeOnStep();
  input_ = input;
}

void RunState::agreeOnInput(bool hasStep) {
  postStep(0, 0, hasStep);
  agreeOnStep();
}

void RunState::checkpointWritten() {
  checkpointIsDue_ = false;
  limits_.checkpointWritten();
}

}  // namespace steptape::detail::train
