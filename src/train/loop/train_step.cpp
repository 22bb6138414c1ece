// SPDX-License-Identifier: Apache-2.0
#include "train/loop/train_step.h"

#include <limits>
#include <utility>

#include "steptape/base/status.h"

#include "train/replicas/gradients/norm_limit.h"

#include <torch/nn/utils/clip_grad.h>

namespace steptape::detail::train {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

constexpr const char* kLossScale = "loss scale";
constexpr const char* kStepsSinceInfinity = "steps since an infinity";

/// Clips gradients that were scaled, after they are unscaled.
GradientSyncOptions syncOptions(const TrainerOptions& options) {
  GradientSyncOptions sync = options.gradientSync;
  if (options.precision != Precision::kFloat16) {
    return sync;
  }
  if (sync.compression == Compression::kPowerSgd) {
    throw Error(
        ErrorCode::kInvalidArgument,
        "Trainer: got Compression::kPowerSgd with Precision::kFloat16: the error that it "
        "feeds back would never lose an infinity; expected kBfloat16 or another compression");
  }
  sync.maxNorm = 0;
  return sync;
}

}  // namespace

TrainStep::TrainStep(torch::nn::Module& module, torch::optim::Optimizer& optimizer,
                     std::shared_ptr<Communicator> world, const TrainerOptions& options,
                     StragglerReport& times)
    : times_(times),
      optimizer_(optimizer),
      parameters_(module.parameters()),
      maxNorm_(options.gradientSync.maxNorm),
      sync_(module.named_parameters(), std::move(world), syncOptions(options)),
      scaledNorm_(kNone) {
  if (options.precision == Precision::kFloat16) {
    scaler_.emplace(options.lossScale);
  }
}

void TrainStep::begin() {
  optimizer_.zero_grad();
  loss_ = std::make_shared<StepLoss>();
}

void TrainStep::learn(const Objective& objective, const Batch& batch) {
  at::Tensor loss;
  {
    const auto timer = times_.time(StepPart::kForward);
    loss = objective(batch).loss;
  }
  const auto timer = times_.time(StepPart::kBackward);
  const double waited = sync_.stats().waitSeconds;
  if (scaler_) {
    (loss * scaler_->scale()).backward();
  } else {
    loss.backward();
  }
  noteWait(waited);
  loss_->add(loss);
}

void TrainStep::exchange() {
  const auto timer = times_.time(StepPart::kOptimizer);
  const double waited = sync_.stats().waitSeconds;
  if (!scaler_) {
    sync_.step(optimizer_);
  } else if (sync_.synchronize()) {
    stepScaled();
  }
  noteWait(waited);
}

void TrainStep::noteWait(double secondsBefore) {
  times_.add(StepPart::kWait, sync_.stats().waitSeconds - secondsBefore);
}

void TrainStep::stepScaled() {
  if (!scaler_->unscale(parameters_)) {
    return;
  }
  if (maxNorm_ > 0) {
    scaledNorm_ = torch::nn::utils::clip_grad_norm_(parameters_, maxNorm_);
  }
  optimizer_.step();
}

double TrainStep::gradientNorm() const {
  return scaler_ ? scaledNorm_ : sync_.gradientNorm();
}

double TrainStep::clipFactor() const {
  const double norm = gradientNorm();
  return maxNorm_ > 0 ? NormLimit(maxNorm_).factorFor(norm * norm) : 1;
}

void TrainStep::saveTo(std::map<std::string, double>& values) const {
  if (scaler_) {
    values[kLossScale] = scaler_->scale();
    values[kStepsSinceInfinity] = static_cast<double>(scaler_->stepsSinceInfinity());
  }
}

void TrainStep::restoreFrom(const std::map<std::string, double>& values) {
  const auto scale = values.find(kLossScale);
  const auto steps = values.find(kStepsSinceInfinity);
  if (scaler_ && scale != values.end() && steps != values.end()) {
    scaler_->restore(scale->second, static_cast<std::int64_t>(steps->second));
  }
}

}  // namespace steptape::detail::train
