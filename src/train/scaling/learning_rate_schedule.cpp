// SPDX-License-Identifier: Apache-2.0
#include "steptape/train/learning_rate_schedule.h"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <utility>

#include "steptape/base/status.h"

#include <torch/optim/optimizer.h>

namespace steptape {
namespace {

constexpr double kPi = 3.14159265358979323846;

[[noreturn]] void reject(const std::string& message) {
  throw Error(ErrorCode::kInvalidArgument, "LearningRateSchedule: " + message);
}

void checkNotNegative(double value, const std::string& what) {
  if (!(value >= 0) || std::isinf(value)) {
    reject("got " + what + " of " + std::to_string(value) + "; expected a number of at least 0");
  }
}

void checkRates(const std::vector<double>& rates) {
  for (const double rate : rates) {
    checkNotNegative(rate, "a base rate");
  }
}

void checkOptions(const LearningRateScheduleOptions& options) {
  checkNotNegative(options.scale, "a scale");
  checkNotNegative(options.warmUpEpochs, "a warm-up");
  checkNotNegative(options.milestoneFactor, "a milestone's factor");
  checkNotNegative(options.cosineEpochs, "an end of the cosine");
  checkNotNegative(options.cosineFinalRate, "a final rate");
  for (const double milestone : options.milestones) {
    checkNotNegative(milestone, "a milestone");
  }
  const auto descent = std::adjacent_find(options.milestones.begin(), options.milestones.end(),
                                          [](double a, double b) { return a >= b; });
  if (descent != options.milestones.end()) {
    reject("got the milestone " + std::to_string(descent[1]) + " after " +
           std::to_string(descent[0]) + "; expected ascending ones");
  }
  if (options.cosineEpochs == 0) {
    return;
  }
  if (!options.milestones.empty()) {
    reject("got milestones and a cosine; expected one of them");
  }
  if (options.cosineEpochs <= options.warmUpEpochs) {
    reject("got a cosine that ends at epoch " + std::to_string(options.cosineEpochs) +
           "; expected an end after the warm-up of " + std::to_string(options.warmUpEpochs) +
           " epochs");
  }
}

std::vector<double> ratesOf(const torch::optim::Optimizer& optimizer) {
  std::vector<double> rates;
  for (const torch::optim::OptimizerParamGroup& group : optimizer.param_groups()) {
    rates.push_back(group.options().get_lr());
  }
  return rates;
}

/// Decreases from 1 at the end of the warm-up to 0.
double cosineAt(double epoch, const LearningRateScheduleOptions& options) {
  const double done =
      (epoch - options.warmUpEpochs) / (options.cosineEpochs - options.warmUpEpochs);
  return (1 + std::cos(kPi * std::min(done, 1.0))) / 2;
}

}  // namespace

LearningRateSchedule::LearningRateSchedule(std::vector<double> baseRates,
                                           LearningRateScheduleOptions options)
    : baseRates_(std::move(baseRates)), options_(std::move(options)) {
  checkRates(baseRates_);
  checkOptions(options_);
}

LearningRateSchedule::LearningRateSchedule(const torch::optim::Optimizer& optimizer,
                                           LearningRateScheduleOptions options)
    : LearningRateSchedule(ratesOf(optimizer), std::move(options)) {}

double LearningRateSchedule::rate(double epoch, std::size_t group) const {
  checkNotNegative(epoch, "an epoch");
  if (group >= baseRates_.size()) {
    reject("got group " + std::to_string(group) + "; expected one of " +
           std::to_string(baseRates_.size()));
  }
  const double base = baseRates_[group];
  if (epoch < options_.warmUpEpochs) {
    return base * (1 + epoch * (options_.scale - 1) / options_.warmUpEpochs);
  }
  const double scaled = base * options_.scale;
  if (options_.cosineEpochs > 0) {
    const double final = options_.cosineFinalRate;
    return final + (scaled - final) * cosineAt(epoch, options_);
  }
  const auto passed =
      std::upper_bound(options_.milestones.begin(), options_.milestones.end(), epoch);
  return scaled * std::pow(options_.milestoneFactor,
                           static_cast<double>(passed - options_.milestones.begin()));
}

void LearningRateSchedule::apply(torch::optim::Optimizer& optimizer, double epoch) const {
  auto& groups = optimizer.param_groups();
  if (groups.size() != baseRates_.size()) {
    reject("got an optimizer with " + std::to_string(groups.size()) +
           " parameter groups; expected " + std::to_string(baseRates_.size()) +
           ", one per base rate");
  }
  for (std::size_t group = 0; group < groups.size(); ++group) {
    groups[group].options().set_lr(rate(epoch, group));
  }
}

void LearningRateSchedule::setBaseRates(std::vector<double> baseRates) {
  if (baseRates.size() != baseRates_.size()) {
    reject("got " + std::to_string(baseRates.size()) + " base rates; expected " +
           std::to_string(baseRates_.size()));
  }
  checkRates(baseRates);
  baseRates_ = std::move(baseRates);
}

std::string LearningRateSchedule::describe() const {
  std::ostringstream text;
  for (std::size_t group = 0; group < baseRates_.size(); ++group) {
    text << (group == 0 ? "" : ", ") << baseRates_[group];
  }
  if (options_.scale != 1) {
    text << " x " << options_.scale;
  }
  if (options_.warmUpEpochs > 0) {
    text << ", warm-up over " << options_.warmUpEpochs << " epochs";
  }
  if (!options_.milestones.empty()) {
    text << ", x " << options_.milestoneFactor << " at epochs ";
    for (std::size_t i = 0; i < options_.milestones.size(); ++i) {
      text << (i == 0 ? "" : ", ") << options_.milestones[i];
    }
  }
  if (options_.cosineEpochs > 0) {
    text << ", cosine to " << options_.cosineFinalRate << " at epoch " << options_.cosineEpochs;
  }
  return text.str();
}

}  // namespace steptape
