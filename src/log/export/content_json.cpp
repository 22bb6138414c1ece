// SPDX-License-Identifier: Apache-2.0
#include "log/export/content_json.h"

#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "log/export/json_parts.h"

namespace steptape::detail::log {
namespace {

void appendValue(const HparamValue& value, ExportText* out) {
  std::visit(
      [out](const auto& held) {
        using T = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<T, bool>) {
          out->text() += held ? "true" : "false";
        } else if constexpr (std::is_same_v<T, double>) {
          appendJsonReal(&out->text(), held);
        } else {
          appendJsonString(&out->text(), held);
        }
      },
      value.value());
}

void appendInfo(const HparamInfo& info, ExportText* out) {
  appendJsonMember("{", "name", info.name, out);
  appendJsonMember(",", "display_name", info.displayName, out);
  appendJsonMember(",", "description", info.description, out);
  if (info.interval) {
    out->text() += ",\"interval\":[";
    appendJsonReal(&out->text(), info.interval->first);
    out->text() += ',';
    appendJsonReal(&out->text(), info.interval->second);
    out->text() += ']';
  } else if (!info.discrete.empty()) {
    appendJsonList(",\"discrete\":[", info.discrete, "]", out,
                   [&](const HparamValue& each) { appendValue(each, out); });
  }
  out->text() += '}';
}

void appendInfo(const HparamMetricInfo& info, ExportText* out) {
  appendJsonMember("{", "tag", info.tag, out);
  appendJsonMember(",", "display_name", info.displayName, out);
  appendJsonMember(",", "description", info.description, out);
  out->text() += '}';
}

const char* nameOf(SessionStatus status) {
  switch (status) {
    case SessionStatus::kSuccess:
      return "success";
    case SessionStatus::kFailure:
      return "failure";
    case SessionStatus::kRunning:
      return "running";
  }
  return "unknown";
}

/// One overload per alternative of HparamsContent.
struct HparamsJson {
  ExportText* out;

  void operator()(const HparamsExperiment& experiment) const {
    appendJsonMember("{\"experiment\":{", "description", experiment.description, out);
    appendJsonList(",\"hparams\":[", experiment.hparams, "]", out,
                   [&](const HparamInfo& each) { appendInfo(each, out); });
    appendJsonList(",\"metrics\":[", experiment.metrics, "]}}", out,
                   [&](const HparamMetricInfo& each) { appendInfo(each, out); });
  }
  void operator()(const HparamsSessionStart& start) const {
    appendJsonList("{\"session_start\":{\"hparams\":{", start.hparams, "}", out,
                   [&](const std::pair<std::string, HparamValue>& each) {
                     appendJsonString(&out->text(), each.first);
                     out->text() += ':';
                     appendValue(each.second, out);
                   });
    appendJsonMember(",", "group_name", start.groupName, out);
    out->text() += ",\"start_time\":";
    appendJsonReal(&out->text(), start.startTime);
    out->text() += "}}";
  }
  void operator()(const HparamsSessionEnd& end) const {
    appendJsonMember("{\"session_end\":{", "status", nameOf(end.status), out);
    out->text() += ",\"end_time\":";
    appendJsonReal(&out->text(), end.endTime);
    out->text() += "}}";
  }
};

void appendChart(const CustomScalarsChart& chart, ExportText* out) {
  appendJsonMember("{", "title", chart.title, out);
  if (chart.margins.empty()) {
    out->text() += ",\"multiline\":";
    appendJsonStrings(chart.tags, out);
  } else {
    appendJsonList(",\"margin\":[", chart.margins, "]", out,
                   [&](const std::array<std::string, 3>& tags) {
                     appendJsonStrings({tags.begin(), tags.end()}, out);
                   });
  }
  out->text() += '}';
}

}  // namespace

void appendJson(const HparamsContent& content, ExportText* out) {
  std::visit(HparamsJson{out}, content);
}

void appendJson(const CustomScalarsLayout& layout, ExportText* out) {
  appendJsonList("{\"categories\":[", layout.categories, "]}", out,
                 [&](const CustomScalarsCategory& category) {
                   appendJsonMember("{", "title", category.title, out);
                   appendJsonList(
                       ",\"charts\":[", category.charts, "]}", out,
                       [&](const CustomScalarsChart& chart) { appendChart(chart, out); });
                 });
}

}  // namespace steptape::detail::log
