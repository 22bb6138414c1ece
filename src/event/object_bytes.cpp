// SPDX-License-Identifier: Apache-2.0
#include "event/object_bytes.h"

#include "event/wire_cursor.h"

namespace steptape::detail {
namespace {

// What a message or an element takes in Protocol Buffers' form and in ours together, rounded up.
constexpr std::uint64_t kValueBytes = 1024;
constexpr std::uint64_t kStringBytes = 96;
constexpr std::uint64_t kDimensionBytes = 80;
constexpr std::uint64_t kNumberBytes = 24;  // while a column of 8-byte numbers grows

// Numbers of fields in event.proto.
constexpr std::uint64_t kSummary = 5;
constexpr std::uint64_t kValue = 1;
constexpr std::uint64_t kTensor = 8;
constexpr std::uint64_t kShape = 2;
constexpr std::uint64_t kDimension = 2;
constexpr std::uint64_t kStrings = 8;

/// Calls `take(field, data)` for each field; `data` is empty but for length-delimited ones. Stops
/// at what is no field.
template <typename Take>
void forEachField(std::string_view message, Take take) {
  WireCursor cursor(message);
  std::uint64_t key;
  while (!cursor.isAtEnd() && cursor.varint(&key)) {
    std::string_view data;
    std::uint64_t number;
    float fixed32;
    double fixed64;
    bool isGood = true;
    switch (key & 7) {
      case 0:
        isGood = cursor.varint(&number);
        break;
      case 1:
        isGood = cursor.float64(&fixed64);
        break;
      case 2:
        isGood = cursor.bytes(&data);
        break;
      case 5:
        isGood = cursor.float32(&fixed32);
        break;
      default:  // groups, whose fields follow
        break;
    }
    if (!isGood) {
      return;
    }
    take(key >> 3, data);
  }
}

/// Whether a field of a TensorProto holds numbers of variable length, packed or one by one.
bool isVarints(std::uint64_t field) {
  return field == 7 || field == 10 || field == 11 || field == 13 || field == 16 || field == 17;
}

std::uint64_t tensorBytes(std::string_view tensor) {
  std::uint64_t sum = 0;
  forEachField(tensor, [&](std::uint64_t field, std::string_view data) {
    if (field == kStrings) {
      sum += kStringBytes;
    } else if (isVarints(field)) {
      sum += kNumberBytes * (data.empty() ? 1 : data.size());
    } else if (field == kShape) {
      forEachField(data, [&](std::uint64_t inner, std::string_view) {
        sum += inner == kDimension ? kDimensionBytes : 0;
      });
    }
  });
  return sum;
}

std::uint64_t summaryBytes(std::string_view summary) {
  std::uint64_t sum = 0;
  forEachField(summary, [&](std::uint64_t field, std::string_view value) {
    if (field != kValue) {
      return;
    }
    sum += kValueBytes;
    forEachField(value, [&](std::uint64_t inner, std::string_view data) {
      sum += inner == kTensor ? tensorBytes(data) : 0;
    });
  });
  return sum;
}

}  // namespace

std::uint64_t objectBytes(std::string_view payload) {
  std::uint64_t sum = 0;
  forEachField(payload, [&](std::uint64_t field, std::string_view data) {
    sum += field == kSummary ? summaryBytes(data) : 0;
  });
  return sum;
}

}  // namespace steptape::detail
