// SPDX-License-Identifier: Apache-2.0
#include "steptape/event/scalar_event_encoder.h"

#include <cstring>

#include "steptape/event/plugin_data.h"

#include "base/little_endian.h"
#include "event/wire_format.h"

namespace steptape {
namespace {

// Field numbers of proto/steptape/wire/event.proto.
constexpr std::uint32_t kEventWallTime = 1;
constexpr std::uint32_t kEventStep = 2;
constexpr std::uint32_t kEventSummary = 5;
constexpr std::uint32_t kSummaryValue = 1;
constexpr std::uint32_t kValueTag = 1;
constexpr std::uint32_t kValueTensor = 8;
constexpr std::uint32_t kValueMetadata = 9;
constexpr std::uint32_t kTensorType = 1;
constexpr std::uint32_t kTensorContent = 4;
constexpr std::uint32_t kMetadataPluginData = 1;
constexpr std::uint32_t kMetadataDisplayName = 2;
constexpr std::uint32_t kMetadataDescription = 3;
constexpr std::uint32_t kMetadataDataClass = 4;
constexpr std::uint32_t kPluginDataName = 1;

std::string encodeMetadata(const SummaryMetadata& metadata) {
  std::string plugin;
  detail::appendBytesField(&plugin, kPluginDataName, kScalarsPlugin);

  std::string bytes;
  detail::appendBytesField(&bytes, kMetadataPluginData, plugin);
  if (!metadata.displayName.empty()) {
    detail::appendBytesField(&bytes, kMetadataDisplayName, metadata.displayName);
  }
  if (!metadata.description.empty()) {
    detail::appendBytesField(&bytes, kMetadataDescription, metadata.description);
  }
  detail::appendVarintField(&bytes, kMetadataDataClass,
                            static_cast<std::uint64_t>(DataClass::kScalar));
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

ScalarValueTemplate::ScalarValueTemplate(std::string_view tag, const SummaryMetadata& metadata)
    : first_(encode(tag, encodeMetadata(metadata))), later_(encode(tag, {})) {}

ScalarValueTemplate::Encoded ScalarValueTemplate::encode(std::string_view tag,
                                                         std::string_view metadata) {
  std::string tensor;
  detail::appendVarintField(&tensor, kTensorType, static_cast<std::uint64_t>(TensorType::kFloat));
  detail::appendBytesField(&tensor, kTensorContent, std::string_view("\0\0\0\0", sizeof(float)));

  std::string value;
  if (!tag.empty()) {
    detail::appendBytesField(&value, kValueTag, tag);
  }
  detail::appendBytesField(&value, kValueTensor, tensor);
  const std::size_t bytesThroughFloat = value.size();  // the tensor ends with its content
  if (!metadata.empty()) {
    detail::appendBytesField(&value, kValueMetadata, metadata);
  }

  Encoded encoded;
  detail::appendBytesField(&encoded.bytes, kSummaryValue, value);
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

// As Protocol Buffers do, fields whose bits are all zero are left out.
void ScalarEventEncoder::appendTo(std::string* out) const {
  if (bitsOf<std::uint64_t>(wallTime_) != 0) {
    detail::appendDoubleField(out, kEventWallTime, wallTime_);
  }
  if (step_ != 0) {
    detail::appendVarintField(out, kEventStep, static_cast<std::uint64_t>(step_));
  }
  detail::appendBytesField(out, kEventSummary, std::string_view(values_).substr(0, used_));
}

}  // namespace steptape
