// SPDX-License-Identifier: Apache-2.0
#include "steptape/trainer/exponential_moving_average.h"

#include <algorithm>
#include <utility>

#include "steptape/base/error.h"

#include <torch/nn/module.h>
#include <torch/version.h>
#if TORCH_VERSION_MAJOR >= 2
#include <ATen/ops/_foreach_lerp.h>
#endif

namespace steptape {
namespace {

constexpr const char* kUpdates = "updates";

void checkOption(bool isFine, const char* option, double got, const char* expected) {
  if (!isFine) {
    throw Error(ErrorCode::kInvalidArgument, std::string("ExponentialMovingAverageOptions::") +
                                                 option + ": got " + std::to_string(got) +
                                                 "; expected " + expected);
  }
}

/// Moves each average by `weight` of the way to its parameter.
void moveTo(std::vector<at::Tensor>& averages, const std::vector<at::Tensor>& parameters,
            double weight) {
#if TORCH_VERSION_MAJOR >= 2
  at::_foreach_lerp_(averages, parameters, weight);
#else
  for (std::size_t i = 0; i < averages.size(); ++i) {
    averages[i].lerp_(parameters[i], weight);
  }
#endif
}

at::ScalarType typeOfAverage(at::ScalarType type) {
  return type == at::kHalf || type == at::kBFloat16 ? at::kFloat : type;
}

}  // namespace

ExponentialMovingAverage::ExponentialMovingAverage(ExponentialMovingAverageOptions options)
    : options_(std::move(options)) {
  checkOption(options_.decay >= 0 && options_.decay < 1, "decay", options_.decay,
              "a number from 0 to less than 1");
  checkOption(options_.everySteps > 0, "everySteps", static_cast<double>(options_.everySteps),
              "at least 1");
  if (options_.name.empty() || options_.name.find('\n') != std::string::npos) {
    throw Error(ErrorCode::kInvalidArgument, "ExponentialMovingAverageOptions::name: got \"" +
                                                 options_.name +
                                                 "\"; expected a name without line breaks");
  }
}

void ExponentialMovingAverage::beforeFit(TrainingContext& context) {
  start(context.module);
  const auto isSaved = [this](const Average& each) { return saved_.count(each.name) != 0; };
  if (!saved_.empty() && std::all_of(averages_.begin(), averages_.end(), isSaved)) {
    for (Average& each : averages_) {
      each.average.copy_(saved_.at(each.name));
    }
  } else {
    updates_ = 0;
  }
  saved_.clear();
}

void ExponentialMovingAverage::start(const torch::nn::Module& module) {
  averages_.clear();
  for (const auto& item : module.named_parameters()) {
    const at::Tensor& parameter = item.value();
    if (parameter.is_floating_point() || parameter.is_complex()) {
      const at::ScalarType type = typeOfAverage(parameter.scalar_type());
      averages_.push_back({item.key(), parameter, parameter.detach().to(type, false, true), {}});
    }
  }
}

void ExponentialMovingAverage::afterStep(TrainingContext& context) {
  if (context.step % options_.everySteps == 0) {
    update();
  }
}

void ExponentialMovingAverage::update() {
  const at::NoGradGuard noGradients;
  std::vector<at::Tensor> averages;
  std::vector<at::Tensor> parameters;
  for (const Average& each : averages_) {
    averages.push_back(each.average);
    parameters.push_back(each.parameter.detach().to(each.average.scalar_type()));
  }
  const auto n = static_cast<double>(updates_++);
  const double decay =
      options_.warmUp ? std::min(options_.decay, (1 + n) / (10 + n)) : options_.decay;
  if (!averages.empty()) {
    moveTo(averages, parameters, 1 - decay);
  }
}

void ExponentialMovingAverage::beforeEvaluation(TrainingContext& /*context*/) {
  if (!options_.evaluate) {
    return;
  }
  for (Average& each : averages_) {
    each.trained = each.parameter.detach();
    each.parameter.set_data(each.average.to(each.parameter.scalar_type()));
  }
}

void ExponentialMovingAverage::afterEvaluation(TrainingContext& /*context*/) {
  showTrained();
}

void ExponentialMovingAverage::onException(TrainingContext& /*context*/) noexcept {
  showTrained();
}

void ExponentialMovingAverage::showTrained() {
  for (Average& each : averages_) {
    if (each.trained.defined()) {
      each.parameter.set_data(std::exchange(each.trained, {}));
    }
  }
}

void ExponentialMovingAverage::saveState(TrainingProgress& progress) const {
  progress.values[nameOf(kUpdates)] = static_cast<double>(updates_);
  for (const Average& each : averages_) {
    progress.tensors[nameOf(each.name)] = each.average;
  }
}

void ExponentialMovingAverage::loadState(const TrainingProgress& progress) {
  const std::string prefix = nameOf("");
  for (const auto& [name, tensor] : progress.tensors) {
    if (name.compare(0, prefix.size(), prefix) == 0) {
      saved_[name.substr(prefix.size())] = tensor;
    }
  }
  const auto updates = progress.values.find(nameOf(kUpdates));
  updates_ = updates == progress.values.end() ? 0 : static_cast<std::int64_t>(updates->second);
}

void ExponentialMovingAverage::copyTo(torch::nn::Module& module) const {
  if (averages_.empty()) {
    throw Error(ErrorCode::kFailedPrecondition,
                "ExponentialMovingAverage::copyTo: got no averages; expected a call after fit()");
  }
  const auto parameters = module.named_parameters();
  for (const Average& each : averages_) {
    const at::Tensor* parameter = parameters.find(each.name);
    if (parameter == nullptr || parameter->sizes() != each.average.sizes()) {
      throw Error(ErrorCode::kInvalidArgument,
                  "ExponentialMovingAverage::copyTo: got a module without the parameter " +
                      each.name +
                      " of the trained model's shape; expected the trained model or a "
                      "copy of it");
    }
  }
  const at::NoGradGuard noGradients;
  for (const Average& each : averages_) {
    at::Tensor(parameters[each.name]).copy_(each.average);
  }
}

}  // namespace steptape
