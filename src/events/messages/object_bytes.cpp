// SPDX-License-Identifier: Apache-2.0
#include "events/messages/object_bytes.h"

#include "events/messages/event_fields.h"
#include "events/messages/wire_fields.h"

namespace steptape::detail::events {
namespace {

// Memory of a message or an element, in both Protocol Buffers' and Steptape's form, rounded up.
constexpr std::uint64_t kValueBytes = 1024;
constexpr std::uint64_t kStringBytes = 96;
constexpr std::uint64_t kDimensionBytes = 80;
constexpr std::uint64_t kColumnNumberBytes = 24;  // while a column of 8-byte numbers grows

/// Returns whether a field of TensorProto holds numbers of variable length, packed or not.
bool isVarints(std::uint64_t field) {
  return field == 7 || field == 10 || field == 11 || field == 13 || field == 16 || field == 17;
}

std::uint64_t tensorBytes(std::string_view tensor) {
  std::uint64_t sum = 0;
  forEachField(tensor, [&](const WireField& field) {
    if (field.number == kTensorStrings) {
      sum += kStringBytes;
    } else if (isVarints(field.number)) {
      sum += kColumnNumberBytes * (field.data.empty() ? 1 : field.data.size());
    } else if (field.number == kTensorShape) {
      forEachField(field.data, [&](const WireField& inner) {
        sum += inner.number == kShapeDimension ? kDimensionBytes : 0;
      });
    }
  });
  return sum;
}

std::uint64_t summaryBytes(std::string_view summary) {
  std::uint64_t sum = 0;
  forEachField(summary, [&](const WireField& value) {
    if (value.number != kSummaryValue) {
      return;
    }
    sum += kValueBytes;
    forEachField(value.data, [&](const WireField& field) {
      sum += field.number == kValueTensor ? tensorBytes(field.data) : 0;
    });
  });
  return sum;
}

}  // namespace

std::uint64_t objectBytes(std::string_view payload) {
  std::uint64_t sum = 0;
  forEachField(payload, [&](const WireField& field) {
    sum += field.number == kEventSummary ? summaryBytes(field.data) : 0;
  });
  return sum;
}

}  // namespace steptape::detail::events
