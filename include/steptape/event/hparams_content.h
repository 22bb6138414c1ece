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

/// A hyperparameter's value: a number, a truth value or a text, kept as what it is.
///
/// @threads Thread-compatible: const methods may run concurrently.
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

/// What a run says when it begins: one row of TensorBoard's table.
struct HparamsSessionStart {
  Hparams hparams = {};
  std::string groupName = {};  ///< Runs of one name are repetitions of one trial.
  double startTime = 0;        ///< Seconds since 1970-01-01 UTC.
};

/// What a run says when it ends.
struct HparamsSessionEnd {
  SessionStatus status = SessionStatus::kSuccess;
  double endTime = 0;  ///< Seconds since 1970-01-01 UTC.
};

/// One record of the hparams plugin.
using HparamsContent = std::variant<HparamsExperiment, HparamsSessionStart, HparamsSessionEnd>;

/// Encodes a record as SummaryMetadata::pluginContent, where the plugin keeps all it knows.
///
/// Texts are stored as they are: one that is not UTF-8 makes TensorBoard refuse the record.
/// A hyperparameter's type in an experiment record is that of its domain. It is marked as one that
/// differs between runs, which TensorBoard shows first, unless its domain is a single value.
///
/// @threads Thread-safe.
/// @source  tensorboard/plugins/hparams/{plugin_data,api}.proto at 2.21
STEPTAPE_EXPORT std::string encodeHparamsContent(const HparamsContent& content);

/// Decodes what encodeHparamsContent() or another writer made. A value that is none of number,
/// truth value and text is left out.
///
/// @return kDataLoss if `bytes` is no such record or of another version than 0; `*content` is then
///         unspecified.
/// @threads Thread-safe.
STEPTAPE_EXPORT Status decodeHparamsContent(std::string_view bytes, HparamsContent* content);

}  // namespace steptape
