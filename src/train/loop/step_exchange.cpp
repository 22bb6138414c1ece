// SPDX-License-Identifier: Apache-2.0
#include "train/loop/step_exchange.h"

#include <string>

#include "steptape/base/status.h"

namespace steptape::detail::train {
namespace {

constexpr int kSignals = 1024;  ///< More than any operating system has.

enum Duty { kNoDuty, kCheckpoint, kFail };

/// Returns a larger number for a larger reason; 0 for none.
double encodeStop(const StepWish& wish) {
  return wish.stop ? (1 + static_cast<int>(*wish.stop)) * kSignals + wish.signal : 0;
}

/// Encodes the step and, in the lowest bit, whether another one can follow.
double encodeStep(std::int64_t step, bool hasStep) {
  return static_cast<double>(2 * step + (hasStep ? 1 : 0));
}
std::int64_t stepIn(double code) {
  return static_cast<std::int64_t>(code) / 2;
}
bool hasStepIn(double code) {
  return static_cast<std::int64_t>(code) % 2 != 0;
}

const CollectiveOptions& collectiveOptions() {
  static const CollectiveOptions kOptions = [] {
    CollectiveOptions options;
    options.name = "losses and stop requests";
    options.compareRanks = false;  // the data contains the step
    return options;
  }();
  return kOptions;
}

}  // namespace

void StepExchange::post(const StepWish& wish, std::int64_t step, double loss, double weight,
                        bool hasStep) {
  const int rank = world_->rank();
  const Duty duty = wish.failed ? kFail : wish.checkpoint ? kCheckpoint : kNoDuty;
  moments_[kLoss] = MetricMoments::of(loss, weight, rank);
  moments_[kStop] = MetricMoments::of(encodeStop(wish), 1, rank);
  moments_[kDuty] = MetricMoments::of(duty, 1, rank);
  moments_[kStep] = MetricMoments::of(encodeStep(step, hasStep), 1, rank);
  if (world_->size() > 1) {
    pending_ = world_->allreduceAsync(ArrayView<MetricMoments>(moments_), collectiveOptions());
  }
}

StepWish StepExchange::read() {
  pending_.wait();
  const std::int64_t first = stepIn(moments_[kStep].min);
  const std::int64_t last = stepIn(moments_[kStep].max);
  if (first != last) {
    throw Error(ErrorCode::kRankMismatch,
                "Trainer: got ranks in different steps, from " + std::to_string(first) + " to " +
                    std::to_string(last) + "; expected the same step on every rank");
  }
  StepWish agreed;
  const int stop = static_cast<int>(moments_[kStop].max);
  if (stop > 0) {
    agreed.stop = static_cast<StopReason>(stop / kSignals - 1);
    agreed.signal = stop % kSignals;
  }
  const int duty = static_cast<int>(moments_[kDuty].max);
  agreed.checkpoint = duty == kCheckpoint;
  agreed.failed = duty == kFail;
  return agreed;
}

StepExchange::Input StepExchange::input() const {
  return {hasStepIn(moments_[kStep].max), hasStepIn(moments_[kStep].min)};
}

}  // namespace steptape::detail::train
