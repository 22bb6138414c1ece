// SPDX-License-Identifier: Apache-2.0
#include "log/export/tensor_json.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>

#include "base/little_endian.h"
#include "log/export/json_parts.h"

namespace steptape::detail::log {
namespace {

/// @source IEEE 754-2019, binary16
double halfToDouble(std::uint16_t bits) {
  const int exponent = bits >> 10 & 0x1f;
  const int fraction = bits & 0x3ff;
  double magnitude;
  if (exponent == 0x1f) {
    magnitude = fraction == 0 ? std::numeric_limits<double>::infinity()
                              : std::numeric_limits<double>::quiet_NaN();
  } else if (exponent == 0) {
    magnitude = std::ldexp(fraction, -24);
  } else {
    magnitude = std::ldexp(fraction + 0x400, exponent - 25);
  }
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

template <typename To, typename From>
To as(From bits) {
  static_assert(sizeof(To) == sizeof(From));
  To value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

std::uint16_t load16(const char* in) {
  const auto low = static_cast<unsigned char>(in[0]);
  const auto high = static_cast<unsigned char>(in[1]);
  return static_cast<std::uint16_t>(low | high << 8);
}

/// The representation of an element in Tensor::content, and how to write it.
struct Element {
  std::size_t bytes;
  void (*append)(const char* in, std::string* out);
};

/// @return 0 bytes for strings and for a type that Steptape does not know.
Element elementOf(event::TensorType type) {
  switch (type) {
    case event::TensorType::kFloat:
      return {4, [](const char* in, std::string* out) {
                appendJsonReal(out, double{as<float>(base::loadLittleEndian32(in))});
              }};
    case event::TensorType::kDouble:
      return {8, [](const char* in, std::string* out) {
                appendJsonReal(out, as<double>(base::loadLittleEndian64(in)));
              }};
    case event::TensorType::kHalf:
      return {2, [](const char* in, std::string* out) {
                appendJsonReal(out, halfToDouble(load16(in)));
              }};
    case event::TensorType::kBFloat16:  // the upper half of a float
      return {2, [](const char* in, std::string* out) {
                appendJsonReal(out, double{as<float>(std::uint32_t{load16(in)} << 16)});
              }};
    case event::TensorType::kBool:
      return {1, [](const char* in, std::string* out) { *out += *in != 0 ? "true" : "false"; }};
    case event::TensorType::kUInt8:
      return {1, [](const char* in, std::string* out) {
                appendJsonInteger(out, static_cast<unsigned char>(*in));
              }};
    case event::TensorType::kInt8:
      return {1, [](const char* in, std::string* out) {
                appendJsonInteger(out, static_cast<signed char>(*in));
              }};
    case event::TensorType::kUInt16:
      return {2, [](const char* in, std::string* out) { appendJsonInteger(out, load16(in)); }};
    case event::TensorType::kInt16:
      return {2, [](const char* in, std::string* out) {
                appendJsonInteger(out, as<std::int16_t>(load16(in)));
              }};
    case event::TensorType::kUInt32:
      return {4, [](const char* in, std::string* out) {
                appendJsonInteger(out, base::loadLittleEndian32(in));
              }};
    case event::TensorType::kInt32:
      return {4, [](const char* in, std::string* out) {
                appendJsonInteger(out, as<std::int32_t>(base::loadLittleEndian32(in)));
              }};
    case event::TensorType::kInt64:
      return {8, [](const char* in, std::string* out) {
                appendJsonInteger(out, as<std::int64_t>(base::loadLittleEndian64(in)));
              }};
    case event::TensorType::kUInt64:
      return {8, [](const char* in, std::string* out) {
                *out += std::to_string(base::loadLittleEndian64(in));
              }};
    case event::TensorType::kString:
    case event::TensorType::kInvalid:
      break;
  }
  return {0, nullptr};
}

}  // namespace

const char* typeName(event::TensorType type) {
  switch (type) {
    case event::TensorType::kFloat:
      return "float32";
    case event::TensorType::kDouble:
      return "float64";
    case event::TensorType::kInt32:
      return "int32";
    case event::TensorType::kUInt8:
      return "uint8";
    case event::TensorType::kInt16:
      return "int16";
    case event::TensorType::kInt8:
      return "int8";
    case event::TensorType::kString:
      return "string";
    case event::TensorType::kInt64:
      return "int64";
    case event::TensorType::kBool:
      return "bool";
    case event::TensorType::kBFloat16:
      return "bfloat16";
    case event::TensorType::kUInt16:
      return "uint16";
    case event::TensorType::kHalf:
      return "float16";
    case event::TensorType::kUInt32:
      return "uint32";
    case event::TensorType::kUInt64:
      return "uint64";
    case event::TensorType::kInvalid:
      break;
  }
  return "unknown";
}

void appendJsonElements(const event::Tensor& tensor, ExportText* out) {
  if (tensor.type == event::TensorType::kString) {
    if (tensor.shape.empty()) {
      appendJsonString(&out->text(), tensor.strings.front());
    } else {
      appendJsonStrings(tensor.strings, out);
    }
    return;
  }
  const Element element = elementOf(tensor.type);
  if (element.bytes == 0) {
    out->text() += "null";
    return;
  }
  if (tensor.shape.empty()) {
    element.append(tensor.content.data(), &out->text());
    return;
  }
  out->text() += '[';
  for (std::size_t at = 0; at < tensor.content.size(); at += element.bytes) {
    if (at > 0) {
      out->text() += ',';
    }
    element.append(tensor.content.data() + at, &out->text());
    out->flushIfLong();
  }
  out->text() += ']';
}

}  // namespace steptape::detail::log
