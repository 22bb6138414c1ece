// SPDX-License-Identifier: Apache-2.0
#include "log/reader/event_values.h"

#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "steptape/events/plugin_content.h"
#include "steptape/log/run_reader.h"

#include "base/element.h"
#include "base/little_endian.h"
#include "events/messages/value_metadata.h"

namespace steptape::detail::log {
namespace {

/// Loads a little-endian number.
template <typename Number>
Number load(const char* in) {
  if constexpr (sizeof(Number) == 1) {
    return base::bitCast<Number>(*in);
  } else if constexpr (sizeof(Number) == 2) {
    const auto low = static_cast<unsigned char>(in[0]);
    const auto high = static_cast<unsigned char>(in[1]);
    return base::bitCast<Number>(static_cast<std::uint16_t>(low | high << 8));
  } else if constexpr (sizeof(Number) == 4) {
    return base::bitCast<Number>(base::loadLittleEndian32(in));
  } else {
    return base::bitCast<Number>(base::loadLittleEndian64(in));
  }
}

/// Calls `use` with the element of a tensor of one number.
/// @return false if the type is not one of numbers.
template <typename Use>
bool useElement(const event::Tensor& tensor, const Use& use) {
  const char* const in = tensor.content.data();
  switch (tensor.type) {
    case event::TensorType::kFloat:
      use(load<float>(in));
      return true;
    case event::TensorType::kDouble:
      use(load<double>(in));
      return true;
    case event::TensorType::kInt64:
      use(load<std::int64_t>(in));
      return true;
    case event::TensorType::kUInt64:
      use(load<std::uint64_t>(in));
      return true;
    case event::TensorType::kInt32:
      use(load<std::int32_t>(in));
      return true;
    case event::TensorType::kUInt32:
      use(load<std::uint32_t>(in));
      return true;
    case event::TensorType::kInt16:
      use(load<std::int16_t>(in));
      return true;
    case event::TensorType::kUInt16:
      use(load<std::uint16_t>(in));
      return true;
    case event::TensorType::kInt8:
      use(load<std::int8_t>(in));
      return true;
    case event::TensorType::kUInt8:
      use(load<std::uint8_t>(in));
      return true;
    case event::TensorType::kBool:
      use(load<base::Bool8>(in));
      return true;
    case event::TensorType::kHalf:
      use(load<base::Float16>(in));
      return true;
    case event::TensorType::kBFloat16:
      use(load<base::BFloat16>(in));
      return true;
    case event::TensorType::kString:
    case event::TensorType::kInvalid:
      return false;
  }
  return false;
}

/// Returns the tensor of one number in `value`; null if there is none.
const event::Tensor* oneNumberOf(const event::Value& value) {
  const auto* const tensor = std::get_if<event::Tensor>(&value.data);
  const bool isOne = tensor != nullptr && !tensor->content.empty() &&
                     tensor->content.size() == event::bytesPerElement(tensor->type);
  return isOne ? tensor : nullptr;
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
    if (const char* const plugin = events::pluginOfField(value.data)) {
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
  const event::Tensor* const tensor = oneNumberOf(value);
  double result = 0;
  const auto take = [&](auto number) { result = base::widen<double>(number); };
  return tensor != nullptr && useElement(*tensor, take) ? std::optional<double>(result)
                                                        : std::nullopt;
}

bool isRounded(const event::Value& value) {
  const event::Tensor* const tensor = oneNumberOf(value);
  bool result = false;
  const auto take = [&](auto number) {
    if constexpr (sizeof number == sizeof(std::int64_t) && std::is_integral_v<decltype(number)>) {
      // Trailing zeros are in the exponent of a double.
      constexpr int kDigits = std::numeric_limits<double>::digits;
      const bool isNegative = number < 0;
      auto size = static_cast<std::uint64_t>(number);
      size = isNegative ? 0 - size : size;
      while (size != 0 && size % 2 == 0) {
        size /= 2;
      }
      result = size >> kDigits != 0;
    }
  };
  return tensor != nullptr && useElement(*tensor, take) && result;
}

event::Tensor tensorOf(float number) {
  std::uint32_t bits;
  std::memcpy(&bits, &number, sizeof bits);
  event::Tensor tensor;
  tensor.type = event::TensorType::kFloat;
  tensor.content.resize(sizeof bits);
  base::storeLittleEndian32(tensor.content.data(), bits);
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

}  // namespace steptape::detail::log
