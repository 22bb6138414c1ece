// SPDX-License-Identifier: Apache-2.0
#include "values/kinds/hparams.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <unordered_set>
#include <variant>

#include "steptape/events/plugin_content.h"

#include "base/json_text.h"
#include "base/utf8.h"
#include "values/kinds/reject.h"

namespace steptape::detail::values {
namespace {

constexpr char kExperimentTag[] = "_hparams_/experiment";
constexpr char kSessionStartTag[] = "_hparams_/session_start_info";
constexpr char kSessionEndTag[] = "_hparams_/session_end_info";

/// Checks that each name of a kind occurs only once.
class UniqueNames {
 public:
  explicit UniqueNames(const char* kind) : kind_(kind) {}

  void add(const std::string& name) {
    if (name.empty()) {
      base::reject(std::string(kind_) + " without a name", "a name");
    }
    if (!seen_.insert(name).second) {
      base::reject(std::string(kind_) + " " + base::quoted(name) + " twice", "distinct names");
    }
  }

 private:
  const char* kind_;
  std::unordered_set<std::string_view> seen_;
};

const char* typeName(const HparamValue& value) {
  constexpr const char* kNames[] = {"a truth value", "a number", "a text"};
  return kNames[value.value().index()];
}

std::string textOf(const HparamValue& value) {
  if (const auto* text = std::get_if<std::string>(&value.value())) {
    return base::quoted(*text);
  }
  if (const auto* truth = std::get_if<bool>(&value.value())) {
    return *truth ? "true" : "false";
  }
  return base::jsonNumber(std::get<double>(value.value()));
}

void checkDomain(const HparamInfo& info) {
  if (info.interval && !info.discrete.empty()) {
    base::reject("discrete values and an interval for " + base::quoted(info.name), "one of them");
  }
  if (info.interval && !(info.interval->first <= info.interval->second)) {
    base::reject("the interval " + textOf(info.interval->first) + " to " +
                     textOf(info.interval->second) + " for " + base::quoted(info.name),
                 "the least value first");
  }
  for (const HparamValue& value : info.discrete) {
    if (value.value().index() != info.discrete.front().value().index()) {
      base::reject(std::string(typeName(info.discrete.front())) + " and " + typeName(value) +
                       " among the discrete values of " + base::quoted(info.name),
                   "values of one type");
    }
  }
}

void checkExperiment(const HparamsExperiment& experiment) {
  UniqueNames names("in the experiment record the hyperparameter");
  for (const HparamInfo& info : experiment.hparams) {
    names.add(info.name);
    checkDomain(info);
  }
  UniqueNames tags("in the experiment record the metric");
  for (const HparamMetricInfo& metric : experiment.metrics) {
    tags.add(metric.tag);
  }
}

void checkInDomain(const HparamValue& value, const HparamInfo& info) {
  if (info.interval) {
    const auto* number = std::get_if<double>(&value.value());
    if (number == nullptr ||
        !(info.interval->first <= *number && *number <= info.interval->second)) {
      base::reject(base::quoted(info.name) + " = " + textOf(value),
                   textOf(info.interval->first) + " to " + textOf(info.interval->second) +
                       ", as the experiment record says");
    }
    return;
  }
  const auto isValue = [&](const HparamValue& allowed) { return allowed.value() == value.value(); };
  if (!info.discrete.empty() && std::none_of(info.discrete.begin(), info.discrete.end(), isValue)) {
    base::reject(
        base::quoted(info.name) + " = " + textOf(value),
        "one of the " + std::to_string(info.discrete.size()) + " values in the experiment record");
  }
}

/// Makes a metadata-only value in the form that TensorBoard's own writer uses.
event::Value metadataValue(const char* tag, const HparamsContent& content) {
  event::SummaryMetadata metadata;
  metadata.pluginName = event::kHparamsPlugin;
  metadata.pluginContent = encodeHparamsContent(content);
  metadata.dataClass = event::DataClass::kTensor;
  event::Tensor nothing;
  nothing.type = event::TensorType::kFloat;
  nothing.shape = {0};
  return {tag, std::move(nothing), std::move(metadata)};
}

HparamValue storable(const HparamValue& value) {
  if (const auto* text = std::get_if<std::string>(&value.value())) {
    return base::replaceInvalidUtf8(*text);
  }
  const auto* number = std::get_if<double>(&value.value());
  if (number == nullptr || std::isfinite(*number)) {
    return value;
  }
  return std::isnan(*number) ? "NaN" : *number > 0 ? "Infinity" : "-Infinity";
}

}  // namespace

void checkHparams(const Hparams& hparams, const HparamMetrics& metrics,
                  const HparamsOptions& options) {
  if (hparams.empty()) {
    base::reject("no hyperparameters", "at least one");
  }
  UniqueNames names("hyperparameter");
  for (const auto& hparam : hparams) {
    names.add(hparam.first);
  }
  UniqueNames tags("metric");
  for (const auto& metric : metrics) {
    tags.add(metric.first);
  }
  if (!options.experiment) {
    return;
  }
  checkExperiment(*options.experiment);
  for (const HparamInfo& info : options.experiment->hparams) {
    for (const auto& [name, value] : hparams) {
      if (name == info.name) {
        checkInDomain(value, info);
      }
    }
  }
}

event::Value hparamsExperimentValue(const HparamsExperiment& experiment) {
  HparamsExperiment repaired = experiment;
  repaired.description = base::replaceInvalidUtf8(repaired.description);
  for (HparamInfo& info : repaired.hparams) {
    info.name = base::replaceInvalidUtf8(info.name);
    info.displayName = base::replaceInvalidUtf8(info.displayName);
    info.description = base::replaceInvalidUtf8(info.description);
    std::transform(info.discrete.begin(), info.discrete.end(), info.discrete.begin(), storable);
  }
  for (HparamMetricInfo& metric : repaired.metrics) {
    metric.tag = base::replaceInvalidUtf8(metric.tag);
    metric.displayName = base::replaceInvalidUtf8(metric.displayName);
    metric.description = base::replaceInvalidUtf8(metric.description);
  }
  return metadataValue(kExperimentTag, std::move(repaired));
}

event::Value sessionStartValue(const Hparams& hparams, const std::string& groupName,
                               double startTime) {
  HparamsSessionStart start;
  for (const auto& [name, value] : hparams) {
    start.hparams.emplace_back(base::replaceInvalidUtf8(name), storable(value));
  }
  start.groupName = base::replaceInvalidUtf8(groupName);
  start.startTime = startTime;
  return metadataValue(kSessionStartTag, std::move(start));
}

event::Value sessionEndValue(SessionStatus status, double endTime) {
  return metadataValue(kSessionEndTag, HparamsSessionEnd{status, endTime});
}

}  // namespace steptape::detail::values
