// SPDX-License-Identifier: Apache-2.0
#include "events/messages/scalar_event_encoder.h"

#include <cstring>

#include "steptape/events/plugin_content.h"

#include "base/little_endian.h"
#include "events/messages/event_fields.h"
#include "events/messages/value_metadata.h"
#include "events/messages/wire_format.h"

namespace steptape::detail::events {
namespace {

constexpr std::uint32_t kMetadataDataClass = 4;
constexpr std::uint32_t kPluginDataName = 1;

std::string encodeMetadata(const event::SummaryMetadata& metadata, ValueForm form) {
  if (form == ValueForm::kCompatible && !hasNames(metadata)) {
    return {};
  }
  std::string plugin;
  appendBytesField(&plugin, kPluginDataName, event::kScalarsPlugin);

  std::string bytes;
  appendBytesField(&bytes, kMetadataPluginData, plugin);
  if (!metadata.displayName.empty()) {
    appendBytesField(&bytes, kMetadataDisplayName, metadata.displayName);
  }
  if (!metadata.description.empty()) {
    appendBytesField(&bytes, kMetadataDescription, metadata.description);
  }
  appendVarintField(&bytes, kMetadataDataClass,
                    static_cast<std::uint64_t>(event::DataClass::kScalar));
  return bytes;
}

template <typename Bits, typename Number>
Bits bitsOf(Number number) {
  static_assert(sizeof(Bits) == sizeof(Number));
  Bits bits;
  std::memcpy(&bits, &number, sizeof bits);
  return bits;
}

}  // namespace

ScalarValueTemplate::ScalarValueTemplate(std::string_view tag,
                                         const event::SummaryMetadata& metadata, ValueForm form)
    : first_(encode(tag, encodeMetadata(metadata, form), form)), later_(encode(tag, {}, form)) {}

ScalarValueTemplate::Encoded ScalarValueTemplate::encode(std::string_view tag,
                                                         std::string_view metadata,
                                                         ValueForm form) {
  std::string value;
  if (!tag.empty()) {
    appendBytesField(&value, kValueTag, tag);
  }
  if (form == ValueForm::kCompatible) {
    appendFieldKey(&value, kValueSimpleValue, WireType::kFixed32);
    value.append(sizeof(float), '\0');
  } else {
    std::string tensor;
    appendVarintField(&tensor, kTensorType, static_cast<std::uint64_t>(event::TensorType::kFloat));
    appendBytesField(&tensor, kTensorContent, std::string_view("\0\0\0\0", sizeof(float)));
    appendBytesField(&value, kValueTensor, tensor);
  }
  const std::size_t bytesThroughFloat = value.size();  // both fields end with the float
  if (!metadata.empty()) {
    appendBytesField(&value, kValueMetadata, metadata);
  }

  Encoded encoded;
  appendBytesField(&encoded.bytes, kSummaryValue, value);
  const std::size_t fieldKeyBytes = encoded.bytes.size() - value.size();
  encoded.floatOffset = fieldKeyBytes + bytesThroughFloat - sizeof(float);
  encoded.size = encoded.bytes.size();
  encoded.bytes.resize((encoded.size + kBlock - 1) / kBlock * kBlock);
  return encoded;
}

void ScalarEventEncoder::grow(std::size_t bytes) {
  values_.resize(2 * (values_.size() + bytes));
}

void ScalarEventEncoder::begin(double wallTime, std::int64_t step) {
  used_ = 0;
  wallTime_ = wallTime;
  step_ = step;
  count_ = 0;
}

// Omits fields whose bits are all zero, as Protocol Buffers does.
void ScalarEventEncoder::appendTo(std::string* out) const {
  if (bitsOf<std::uint64_t>(wallTime_) != 0) {
    appendDoubleField(out, kEventWallTime, wallTime_);
  }
  if (step_ != 0) {
    appendVarintField(out, kEventStep, static_cast<std::uint64_t>(step_));
  }
  appendBytesField(out, kEventSummary, std::string_view(values_).substr(0, used_));
}

}  // namespace steptape::detail::events
