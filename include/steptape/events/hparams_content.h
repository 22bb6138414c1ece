// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/base/status.h"

namespace steptape {

/// The value of a hyperparameter: a number, a bool or a text.
///
/// @threads Thread-compatible: const methods may run concurrently.
class HparamValue {
 public:
  /// Stores a bool as bool, and any other arithmetic type as double.
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

/// How a session ended.
enum class SessionStatus { kSuccess = 1, kFailure = 2, kRunning = 3 };

/// One hyperparameter of an experiment record.
struct HparamInfo {
  std::string name;
  std::string displayName = {};
  std::string description = {};
  std::vector<HparamValue> discrete = {};  ///< The allowed values, all of one type.
  std::optional<std::pair<double, double>> interval = std::nullopt;  ///< Least and largest.
};

/// One metric of an experiment record.
struct HparamMetricInfo {
  std::string tag;  ///< The tag of the scalar.
  std::string displayName = {};
  std::string description = {};
};

/// The record that names the columns of a study. It must be the same in all runs of the study,
/// because TensorBoard uses that of an arbitrary run.
struct HparamsExperiment {
  std::string description = {};
  std::vector<HparamInfo> hparams = {};
  std::vector<HparamMetricInfo> metrics = {};
};

/// The record of the start of a run: one row of TensorBoard's table.
struct HparamsSessionStart {
  Hparams hparams = {};
  std::string groupName = {};  ///< Runs with the same name are repetitions of one trial.
  double startTime = 0;        ///< Seconds since 1970-01-01 UTC.
};

/// The record of the end of a run.
struct HparamsSessionEnd {
  SessionStatus status = SessionStatus::kSuccess;
  double endTime = 0;  ///< Seconds since 1970-01-01 UTC.
};

/// One record of the hparams plugin.
using HparamsContent = std::variant<HparamsExperiment, HparamsSessionStart, HparamsSessionEnd>;

/// Encodes a record as SummaryMetadata::pluginContent, where the plugin stores its data.
///
/// Texts are stored unchanged; TensorBoard rejects the record if one is not UTF-8. In an experiment
/// record, a hyperparameter has the type of its domain. Unless the domain is a single value, it is
/// marked as one that differs between runs, which TensorBoard shows first.
///
/// @threads Thread-safe.
/// @source  tensorboard/plugins/hparams/{plugin_data,api}.proto at 2.21
STEPTAPE_EXPORT std::string encodeHparamsContent(const HparamsContent& content);

/// Decodes a record of encodeHparamsContent() or of another writer. Leaves out values that are not
/// a number, a bool or a text.
///
/// @return kDataLoss if `bytes` is not such a record, or not of version 0; `*content` is then
///         unspecified.
/// @threads Thread-safe.
STEPTAPE_EXPORT Status decodeHparamsContent(std::string_view bytes, HparamsContent* content);

}  // namespace steptape
