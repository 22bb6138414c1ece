// SPDX-License-Identifier: Apache-2.0
#include "events/messages/mindspore_value.h"

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "steptape/events/plugin_content.h"

#include "base/little_endian.h"
#include "events/messages/wire_fields.h"
#include "events/messages/wire_format.h"

namespace steptape::detail::events {
namespace {

bool is(const WireField& field, std::uint64_t number, WireType type) {
  return field.number == number && field.wireType == type;
}

void setPlugin(const char* plugin, event::DataClass dataClass, event::Value* value) {
  value->metadata.emplace();
  value->metadata->pluginName = plugin;
  value->metadata->dataClass = dataClass;
}

void appendDouble(double number, std::string* out) {
  std::uint64_t bits;
  std::memcpy(&bits, &number, sizeof bits);
  char bytes[sizeof bits];
  base::storeLittleEndian64(bytes, bits);
  out->append(bytes, sizeof bytes);
}

/// Returns whether the shape is valid and has this number of elements.
bool hasElements(const std::vector<std::int64_t>& shape, std::uint64_t elements) {
  std::uint64_t product = 1;
  for (const std::int64_t size : shape) {
    if (size < 0 || __builtin_mul_overflow(product, static_cast<std::uint64_t>(size), &product)) {
      return false;
    }
  }
  return product == elements;
}

/// TensorFlow's tensor has its shape, a message, where MindSpore's has the number of its type.
bool takeTensor(std::string_view bytes, event::Value* value) {
  constexpr std::size_t kMaxDimensions = 254;  // TensorFlow's
  event::Tensor tensor;
  tensor.type = event::TensorType::kFloat;
  bool hasType = false;
  forEachField(bytes, [&](const WireField& field) {
    if (is(field, 1, WireType::kVarint) && tensor.shape.size() < kMaxDimensions) {
      tensor.shape.push_back(static_cast<std::int64_t>(field.varint));
    } else if (is(field, 2, WireType::kVarint)) {
      hasType = true;
    } else if (is(field, 3, WireType::kLengthDelimited)) {
      tensor.content.append(field.data);
    }
  });
  if (!hasType) {
    return false;
  }
  const std::uint64_t elements = tensor.content.size() / sizeof(float);
  tensor.content.resize(elements * sizeof(float));
  if (!hasElements(tensor.shape, elements)) {
    tensor.shape = {static_cast<std::int64_t>(elements)};  // keeps the numbers
  }
  value->data = std::move(tensor);
  setPlugin(event::kTensorPlugin, event::DataClass::kUnknown, value);
  return true;
}

struct MindSporeBucket {
  double left = 0;
  double width = 0;
  double count = 0;
};

/// @return false if a required field is missing.
bool takeBucket(std::string_view bytes, MindSporeBucket* bucket) {
  int fields = 0;
  forEachField(bytes, [&](const WireField& field) {
    ++fields;
    if (is(field, 1, WireType::kFixed64)) {
      bucket->left = field.float64;
    } else if (is(field, 2, WireType::kFixed64)) {
      bucket->width = field.float64;
    } else if (is(field, 3, WireType::kVarint)) {
      bucket->count = static_cast<double>(static_cast<std::int64_t>(field.varint));
    } else {
      --fields;
    }
  });
  return fields >= 3;
}

/// TensorFlow's value has metadata here, whose fields are messages and texts.
bool takeHistogram(std::string_view bytes, event::Value* value) {
  event::Tensor rows;
  rows.type = event::TensorType::kDouble;
  std::int64_t buckets = 0;
  bool hasCounts = false;
  bool isGood = true;
  forEachField(bytes, [&](const WireField& field) {
    if (is(field, 1, WireType::kLengthDelimited)) {
      MindSporeBucket bucket;
      isGood = isGood && takeBucket(field.data, &bucket);
      if (isGood) {
        appendDouble(bucket.left, &rows.content);
        appendDouble(bucket.left + bucket.width, &rows.content);
        appendDouble(bucket.count, &rows.content);
        ++buckets;
      }
    } else if (is(field, 2, WireType::kVarint) || is(field, 8, WireType::kVarint)) {
      hasCounts = true;  // of NaN, and of all values
    }
  });
  if (!hasCounts || !isGood) {
    return false;
  }
  rows.shape = {buckets, 3};
  value->data = std::move(rows);
  setPlugin(event::kHistogramsPlugin, event::DataClass::kTensor, value);
  return true;
}

void takeLandscape(std::string_view bytes, event::Value* value) {
  event::Tensor landscape;
  landscape.type = event::TensorType::kString;
  landscape.strings.emplace_back(bytes);
  value->data = std::move(landscape);
  setPlugin("loss_landscape", event::DataClass::kUnknown, value);
}

}  // namespace

bool decodeMindSporeValue(std::string_view bytes, event::Value* value) {
  bool isMindSpores = false;
  forEachField(bytes, [&](const WireField& field) {
    if (is(field, 3, WireType::kFixed32)) {
      value->data = field.float32;
      isMindSpores = true;
    } else if (is(field, 8, WireType::kLengthDelimited)) {
      isMindSpores = takeTensor(field.data, value) || isMindSpores;
    } else if (is(field, 9, WireType::kLengthDelimited)) {
      isMindSpores = takeHistogram(field.data, value) || isMindSpores;
    } else if (is(field, 10, WireType::kLengthDelimited)) {
      takeLandscape(field.data, value);
      isMindSpores = true;
    }
  });
  return isMindSpores;
}

}  // namespace steptape::detail::events
