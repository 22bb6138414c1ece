// SPDX-License-Identifier: Apache-2.0
#include "reader/event_values.h"

#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <variant>

#include "steptape/event/plugin_content.h"
#include "steptape/reader/tag_series.h"

#include "base/little_endian.h"
#include "event/value_metadata.h"

namespace steptape::detail {
namespace {

template <typename Number, typename Bits>
double numberFrom(Bits bits) {
  static_assert(sizeof(Number) == sizeof(Bits));
  Number number;
  std::memcpy(&number, &bits, sizeof number);
  return double{number};
}

std::vector<event::Value> graphValue(std::string tag, const char* plugin, std::string bytes) {
  event::Tensor tensor;
  tensor.type = event::TensorType::kString;
  tensor.strings.push_back(std::move(bytes));
  event::SummaryMetadata metadata;
  metadata.pluginName = plugin;
  return {event::Value{std::move(tag), std::move(tensor), std::move(metadata)}};
}

}  // namespace

std::vector<event::Value> takeValues(event::Event event) {
  if (auto* graph = std::get_if<event::GraphDef>(&event.what)) {
    return graphValue(kRunGraphTag, kGraphsPlugin, std::move(graph->bytes));
  }
  if (auto* graph = std::get_if<event::MetaGraphDef>(&event.what)) {
    return graphValue(kMetaGraphTag, kGraphsPlugin, std::move(graph->bytes));
  }
  if (auto* run = std::get_if<event::TaggedRunMetadata>(&event.what)) {
    return graphValue(std::move(run->tag), kTaggedRunMetadataPlugin, std::move(run->bytes));
  }
  auto* const summary = std::get_if<event::Summary>(&event.what);
  if (summary == nullptr) {
    return {};
  }
  for (event::Value& value : summary->values) {
    if (const char* const plugin = pluginOfField(value.data)) {
      value.metadata = value.metadata.value_or(event::SummaryMetadata());
      value.metadata->pluginName = plugin;
    }
  }
  return std::move(summary->values);
}

std::optional<double> numberOf(const event::Value& value) {
  if (const auto* const number = std::get_if<float>(&value.data)) {
    return double{*number};
  }
  const auto* const tensor = std::get_if<event::Tensor>(&value.data);
  if (tensor == nullptr) {
    return std::nullopt;
  }
  const std::string& content = tensor->content;
  if (tensor->type == event::TensorType::kFloat && content.size() == sizeof(float)) {
    return numberFrom<float>(loadLittleEndian32(content.data()));
  }
  if (tensor->type == event::TensorType::kDouble && content.size() == sizeof(double)) {
    return numberFrom<double>(loadLittleEndian64(content.data()));
  }
  return std::nullopt;
}

event::Tensor tensorOf(float number) {
  std::uint32_t bits;
  std::memcpy(&bits, &number, sizeof bits);
  event::Tensor tensor;
  tensor.type = event::TensorType::kFloat;
  tensor.content.resize(sizeof bits);
  storeLittleEndian32(tensor.content.data(), bits);
  return tensor;
}

bool isEmpty(const event::Value& value) {
  return std::holds_alternative<std::monostate>(value.data) && !value.metadata;
}

bool hasRestarts(const event::FileVersion& version) {
  const std::string& name = version.version;
  // If there is no colon, this is the whole name.
  const std::string number = name.substr(name.rfind(':') + 1);
  return std::strtod(number.c_str(), nullptr) >= 2;
}

}  // namespace steptape::detail
