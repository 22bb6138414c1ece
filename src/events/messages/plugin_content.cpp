// SPDX-License-Identifier: Apache-2.0
#include "steptape/events/plugin_content.h"

#include <algorithm>
#include <iterator>

#include "steptape/wire/plugins.pb.h"

#include "base/got_expected.h"
#include "events/messages/parse_message.h"

namespace steptape::event {
namespace {

// A value of the enum AudioPluginData.Encoding.
constexpr std::int32_t kWav = 11;

constexpr MeshPart kMeshParts[] = {MeshPart::kVertex, MeshPart::kFace, MeshPart::kColor};

std::uint32_t componentOf(MeshPart part) {
  return std::uint32_t{1} << static_cast<std::uint32_t>(part);
}

Status notContentOf(const char* plugin, std::string_view bytes, const char* message) {
  return Status(ErrorCode::kDataLoss,
                std::string(plugin) + " record: " +
                    detail::base::gotExpected(std::to_string(bytes.size()) + " other bytes",
                                              std::string("a message ") + message));
}

}  // namespace

std::string audioPluginContent() {
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
    components |= componentOf(part);
  }
  proto.set_components(components);
  return proto.SerializeAsString();
}

Status decodeAudioPluginContent(std::string_view bytes, bool* isWav) {
  wire::AudioPluginData proto;
  if (!detail::events::parseMessage(bytes, &proto)) {
    return notContentOf("audio", bytes, "AudioPluginData");
  }
  *isWav = proto.encoding() == kWav;
  return Status();
}

Status decodeMeshPluginContent(std::string_view bytes, MeshPluginData* data) {
  wire::MeshPluginData proto;
  if (!detail::events::parseMessage(bytes, &proto)) {
    return notContentOf("mesh", bytes, "MeshPluginData");
  }
  data->name = proto.name();
  data->part = static_cast<MeshPart>(proto.content_type());
  if (std::find(std::begin(kMeshParts), std::end(kMeshParts), data->part) == std::end(kMeshParts)) {
    return Status(
        ErrorCode::kDataLoss,
        "mesh record: " + detail::base::gotExpected("part " + std::to_string(proto.content_type()),
                                                    "1 (vertices), 2 (faces) or 3 (colors)"));
  }
  data->parts.clear();
  for (const MeshPart part : kMeshParts) {
    // A file that predates this field has all components.
    if (proto.components() == 0 || (proto.components() & componentOf(part)) != 0) {
      data->parts.push_back(part);
    }
  }
  data->shape.assign(proto.shape().begin(), proto.shape().end());
  data->jsonConfig = proto.json_config();
  return Status();
}

}  // namespace steptape::event
