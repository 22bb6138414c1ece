// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include "steptape/events/plugin_content.h"
#include "steptape/wire/hparams.pb.h"

#include "base/got_expected.h"
#include "events/messages/parse_message.h"

namespace steptape {
namespace {

// The only version of HParamsPluginData that TensorBoard accepts.
constexpr std::int32_t kVersion = 0;

// Numbers of the enum DataType.
constexpr std::int32_t kStringType = 1;
constexpr std::int32_t kBoolType = 2;
constexpr std::int32_t kFloat64Type = 3;

/// One overload per alternative of HparamValue.
struct HparamEncoder {
  wire::HParamValue* out;

  void operator()(bool value) const { out->set_bool_value(value); }
  void operator()(double value) const { out->set_number_value(value); }
  void operator()(const std::string& value) const { out->set_string_value(value); }
};

std::int32_t typeOf(const HparamValue& value) {
  return std::visit(
      [](const auto& held) {
        using T = std::decay_t<decltype(held)>;
        return std::is_same_v<T, bool>     ? kBoolType
               : std::is_same_v<T, double> ? kFloat64Type
                                           : kStringType;
      },
      value.value());
}

void encode(const HparamInfo& info, wire::HParamInfo* out) {
  out->set_name(info.name);
  out->set_display_name(info.displayName);
  out->set_description(info.description);
  bool single = false;
  if (info.interval) {
    out->set_type(kFloat64Type);
    out->mutable_domain_interval()->set_min_value(info.interval->first);
    out->mutable_domain_interval()->set_max_value(info.interval->second);
    single = info.interval->first == info.interval->second;
  } else if (!info.discrete.empty()) {
    out->set_type(typeOf(info.discrete.front()));
    for (const HparamValue& value : info.discrete) {
      std::visit(HparamEncoder{out->mutable_domain_discrete()->add_values()}, value.value());
    }
    single = info.discrete.size() == 1;
  }
  out->set_differs(!single);
}

/// One overload per alternative of HparamsContent.
struct ContentEncoder {
  wire::HParamsPluginData* out;

  void operator()(const HparamsExperiment& experiment) const {
    wire::HParamsExperiment* proto = out->mutable_experiment();
    proto->set_description(experiment.description);
    for (const HparamInfo& info : experiment.hparams) {
      encode(info, proto->add_hparam_infos());
    }
    for (const HparamMetricInfo& metric : experiment.metrics) {
      wire::HParamMetricInfo* info = proto->add_metric_infos();
      // Without a group, TensorBoard looks for the tag in the session's own run.
      info->mutable_name()->set_tag(metric.tag);
      info->set_display_name(metric.displayName);
      info->set_description(metric.description);
    }
  }
  void operator()(const HparamsSessionStart& start) const {
    wire::HParamsSessionStart* proto = out->mutable_session_start_info();
    for (const auto& [name, value] : start.hparams) {
      wire::HParamsSessionStart::Entry* entry = proto->add_hparams();
      entry->set_key(name);
      std::visit(HparamEncoder{entry->mutable_value()}, value.value());
    }
    proto->set_group_name(start.groupName);
    proto->set_start_time_secs(start.startTime);
  }
  void operator()(const HparamsSessionEnd& end) const {
    wire::HParamsSessionEnd* proto = out->mutable_session_end_info();
    proto->set_status(static_cast<std::int32_t>(end.status));
    proto->set_end_time_secs(end.endTime);
  }
};

std::optional<HparamValue> decode(const wire::HParamValue& proto) {
  switch (proto.kind_case()) {
    case wire::HParamValue::kNumberValue:
      return HparamValue(proto.number_value());
    case wire::HParamValue::kStringValue:
      return HparamValue(proto.string_value());
    case wire::HParamValue::kBoolValue:
      return HparamValue(proto.bool_value());
    case wire::HParamValue::KIND_NOT_SET:
      break;
  }
  return std::nullopt;
}

HparamInfo decode(const wire::HParamInfo& proto) {
  HparamInfo info{proto.name(), proto.display_name(), proto.description()};
  for (const wire::HParamValue& value : proto.domain_discrete().values()) {
    if (std::optional<HparamValue> decoded = decode(value)) {
      info.discrete.push_back(*std::move(decoded));
    }
  }
  if (proto.has_domain_interval()) {
    info.interval = {proto.domain_interval().min_value(), proto.domain_interval().max_value()};
  }
  return info;
}

HparamsExperiment decode(const wire::HParamsExperiment& proto) {
  HparamsExperiment experiment;
  experiment.description = proto.description();
  for (const wire::HParamInfo& info : proto.hparam_infos()) {
    experiment.hparams.push_back(decode(info));
  }
  for (const wire::HParamMetricInfo& info : proto.metric_infos()) {
    experiment.metrics.push_back({info.name().tag(), info.display_name(), info.description()});
  }
  return experiment;
}

HparamsSessionStart decode(const wire::HParamsSessionStart& proto) {
  HparamsSessionStart start;
  for (const wire::HParamsSessionStart::Entry& entry : proto.hparams()) {
    if (std::optional<HparamValue> value = decode(entry.value())) {
      start.hparams.emplace_back(entry.key(), *std::move(value));
    }
  }
  start.groupName = proto.group_name();
  start.startTime = proto.start_time_secs();
  return start;
}

Status refusal(const std::string& got, const std::string& expected) {
  return Status(ErrorCode::kDataLoss,
                "hparams record: " + detail::base::gotExpected(got, expected));
}

}  // namespace

std::string encodeHparamsContent(const HparamsContent& content) {
  wire::HParamsPluginData proto;
  proto.set_version(kVersion);
  std::visit(ContentEncoder{&proto}, content);
  return proto.SerializeAsString();
}

Status decodeHparamsContent(std::string_view bytes, HparamsContent* content) {
  wire::HParamsPluginData proto;
  if (!detail::events::parseMessage(bytes, &proto)) {
    return refusal(std::to_string(bytes.size()) + " other bytes", "an HParamsPluginData message");
  }
  if (proto.version() != kVersion) {
    return refusal("version " + std::to_string(proto.version()), "0");
  }
  switch (proto.data_case()) {
    case wire::HParamsPluginData::kExperiment:
      *content = decode(proto.experiment());
      return Status();
    case wire::HParamsPluginData::kSessionStartInfo:
      *content = decode(proto.session_start_info());
      return Status();
    case wire::HParamsPluginData::kSessionEndInfo:
      *content = HparamsSessionEnd{static_cast<SessionStatus>(proto.session_end_info().status()),
                                   proto.session_end_info().end_time_secs()};
      return Status();
    case wire::HParamsPluginData::DATA_NOT_SET:
      break;
  }
  return refusal("neither an experiment nor a session", "one of them");
}

}  // namespace steptape
