// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/event/event.h"

namespace steptape {

/// A hyperparameter's value: a number, a truth value or a text, kept as what it is.
class HparamValue {
 public:
  /// Any arithmetic type; bool stays bool, all others are stored as double.
  template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T>>>
  HparamValue(T value) {  // NOLINT(google-explicit-constructor)
    if constexpr (std::is_same_v<T, bool>) {
      value_ = value;
    } else {
      value_ = static_cast<double>(value);
    }
  }
  HparamValue(const char* text) : value_(std::string(text)) {}  // NOLINT(*-explicit-*)
  HparamValue(std::string text) : value_(std::move(text)) {}    // NOLINT(*-explicit-*)

  const std::variant<bool, double, std::string>& value() const { return value_; }

 private:
  std::variant<bool, double, std::string> value_;
};

/// Hyperparameters by name.
using Hparams = std::vector<std::pair<std::string, HparamValue>>;
/// Results by scalar tag.
using HparamMetrics = std::vector<std::pair<std::string, double>>;

/// How a session ended.
enum class SessionStatus { kSuccess = 1, kFailure = 2, kRunning = 3 };

/// What an experiment record says of one hyperparameter.
struct HparamInfo {
  std::string name;
  std::string displayName = {};
  std::string description = {};
  std::vector<HparamValue> discrete = {};  ///< The values it can have; all of one type.
  std::optional<std::pair<double, double>> interval = std::nullopt;  ///< Least and largest.
};

/// What an experiment record says of one metric.
struct HparamMetricInfo {
  std::string tag;  ///< The scalar's.
  std::string displayName = {};
  std::string description = {};
};

/// The record that names the columns of a study; must be the same in all of its runs, since
/// TensorBoard takes any one of them.
struct HparamsExperiment {
  std::string description = {};
  std::vector<HparamInfo> hparams = {};
  std::vector<HparamMetricInfo> metrics = {};
};

/// Options of addHparams().
struct HparamsOptions {
  std::optional<double> wallTime = std::nullopt;
  std::string groupName = {};  ///< Runs of one name are repetitions of one trial.
  /// None by default: TensorBoard then makes the columns of what all runs have.
  std::optional<HparamsExperiment> experiment = std::nullopt;
};

}  // namespace steptape
