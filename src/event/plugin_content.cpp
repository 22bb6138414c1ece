// SPDX-License-Identifier: Apache-2.0
#include "steptape/event/plugin_content.h"

#include "steptape/wire/plugins.pb.h"

namespace steptape {

std::string audioPluginContent() {
  constexpr int kWav = 11;
  wire::AudioPluginData proto;
  proto.set_encoding(kWav);
  return proto.SerializeAsString();
}

std::string prCurvePluginContent(std::uint32_t numThresholds) {
  wire::PrCurvePluginData proto;
  proto.set_num_thresholds(numThresholds);
  return proto.SerializeAsString();
}

std::string meshPluginContent(const MeshPluginData& data) {
  wire::MeshPluginData proto;
  proto.set_name(data.name);
  proto.set_content_type(static_cast<std::int32_t>(data.part));
  proto.set_json_config(data.jsonConfig);
  proto.mutable_shape()->Add(data.shape.begin(), data.shape.end());
  std::uint32_t components = 0;
  for (const MeshPart part : data.parts) {
    components |= std::uint32_t{1} << static_cast<std::uint32_t>(part);
  }
  proto.set_components(components);
  return proto.SerializeAsString();
}

}  // namespace steptape
