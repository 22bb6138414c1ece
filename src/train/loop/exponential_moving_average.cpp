// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "steptape/base/status.h"
#include "steptape/train/trainer_callback.h"

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

void checkOptions(const ExponentialMovingAverageOptions& options) {
  checkOption(options.decay >= 0 && options.decay < 1, "decay", options.decay,
              "a number from 0 to less than 1");
  checkOption(options.everySteps > 0, "everySteps", static_cast<double>(options.everySteps),
              "at least 1");
  if (options.name.empty() || options.name.find('\n') != std::string::npos) {
    throw Error(ErrorCode::kInvalidArgument, "ExponentialMovingAverageOptions::name: got \"" +
                                                 options.name +
                                                 "\"; expected a name without line breaks");
  }
}

at::ScalarType typeOfAverage(at::ScalarType type) {
  return type == at::kHalf || type == at::kBFloat16 ? at::kFloat : type;
}

}  // namespace

class ExponentialMovingAverage::Impl {
 public:
  explicit Impl(ExponentialMovingAverageOptions options) : options_(std::move(options)) {}

  std::int64_t updates() const { return updates_; }

  void start(const torch::nn::Module& module) {
    averages_.clear();
    for (const auto& item : module.named_parameters()) {
      const at::Tensor& parameter = item.value();
      if (parameter.is_floating_point() || parameter.is_complex()) {
        const at::ScalarType type = typeOfAverage(parameter.scalar_type());
        averages_.push_back({item.key(), parameter, parameter.detach().to(type, false, true), {}});
      }
    }
    useSaved();
  }

  void endStep(std::int64_t step) {
    if (step % options_.everySteps == 0 && !averages_.empty()) {
      update();
    }
  }

  void showAverages() {
    if (!options_.evaluate) {
      return;
    }
    for (Average& each : averages_) {
      each.trained = each.parameter.detach();
      each.parameter.set_data(each.average.to(each.parameter.scalar_type()));
    }
  }

  void showTrained() {
    for (Average& each : averages_) {
      if (each.trained.defined()) {
        each.parameter.set_data(std::exchange(each.trained, {}));
      }
    }
  }

  void save(TrainingProgress& progress) const {
    progress.values[nameOf(kUpdates)] = static_cast<double>(updates_);
    for (const Average& each : averages_) {
      progress.tensors[nameOf(each.name)] = each.average;
    }
  }

  void load(const TrainingProgress& progress) {
    const std::string prefix = nameOf("");
    for (const auto& [name, tensor] : progress.tensors) {
      if (name.compare(0, prefix.size(), prefix) == 0) {
        saved_[name.substr(prefix.size())] = tensor;
      }
    }
    const auto updates = progress.values.find(nameOf(kUpdates));
    savedUpdates_ = updates == progress.values.end() ? 0 : updates->second;
  }

  void copyTo(torch::nn::Module& module) const {
    checkFits(module);
    const at::NoGradGuard noGradients;
    auto parameters = module.named_parameters();
    for (const Average& each : averages_) {
      parameters[each.name].copy_(each.average);
    }
  }

 private:
  struct Average {
    std::string name;
    at::Tensor parameter;
    at::Tensor average;
    at::Tensor trained;  ///< The parameter's memory, while it has that of the average.
  };

  /// Continues with what a checkpoint held, if it held all averages.
  void useSaved() {
    const auto saved = std::exchange(saved_, {});
    const bool isComplete = std::all_of(averages_.begin(), averages_.end(), [&](const auto& each) {
      return saved.count(each.name) != 0;
    });
    updates_ = isComplete ? static_cast<std::int64_t>(std::exchange(savedUpdates_, 0)) : 0;
    for (Average& each : averages_) {
      if (isComplete) {
        each.average.copy_(saved.at(each.name));
      }
    }
  }

  void update() {
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
    moveTo(averages, parameters, 1 - decay);
  }

  void checkFits(const torch::nn::Module& module) const {
    if (averages_.empty()) {
      throw Error(ErrorCode::kFailedPrecondition,
                  "ExponentialMovingAverage::copyTo: got no averages; expected a call after fit()");
    }
    const auto parameters = module.named_parameters();
    for (const Average& each : averages_) {
      const at::Tensor* parameter = parameters.find(each.name);
      if (parameter == nullptr || parameter->sizes() != each.average.sizes()) {
        throw Error(
            ErrorCode::kInvalidArgument,
            "ExponentialMovingAverage::copyTo: got a module without the parameter " + each.name +
                " of the trained model's shape; expected the trained model or a copy of it");
      }
    }
  }

  std::string nameOf(const std::string& part) const { return options_.name + "/" + part; }

  ExponentialMovingAverageOptions options_;
  std::vector<Average> averages_;
  std::int64_t updates_ = 0;
  // From load() to start().
  std::map<std::string, at::Tensor> saved_;
  double savedUpdates_ = 0;
};

ExponentialMovingAverage::ExponentialMovingAverage(ExponentialMovingAverageOptions options) {
  checkOptions(options);
  impl_ = std::make_unique<Impl>(std::move(options));
}

ExponentialMovingAverage::~ExponentialMovingAverage() = default;

std::int64_t ExponentialMovingAverage::updates() const {
  return impl_->updates();
}

void ExponentialMovingAverage::copyTo(torch::nn::Module& module) const {
  impl_->copyTo(module);
}

void ExponentialMovingAverage::beforeFit(TrainingContext& context) {
  impl_->start(context.module);
}

void ExponentialMovingAverage::afterStep(TrainingContext& context) {
  impl_->endStep(context.step);
}

void ExponentialMovingAverage::beforeEvaluation(TrainingContext& /*context*/) {
  impl_->showAverages();
}

void ExponentialMovingAverage::afterEvaluation(TrainingContext& /*context*/) {
  impl_->showTrained();
}

void ExponentialMovingAverage::onException(TrainingContext& /*context*/) noexcept {
  impl_->showTrained();
}

void ExponentialMovingAverage::saveState(TrainingProgress& progress) const {
  impl_->save(progress);
}

void ExponentialMovingAverage::loadState(const TrainingProgress& progress) {
  impl_->load(progress);
}

}  // namespace steptape
