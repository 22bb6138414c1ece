// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <variant>
#include <vector>

#include "steptape/events/event.h"

#include "events/messages/event_fields.h"
#include "events/messages/wire_fields.h"

namespace steptape::detail::events {

/// What decodeEvent() does not keep of a value, because only readers less tolerant depend on it.
struct ValueFacts {
  /// Number of elements in each field of a TensorProto, by the field's number.
  std::array<std::uint64_t, 18> elements{};
  std::uint64_t contentBytes = 0;  ///< Of `tensor_content`.
  bool hasTag = true;              ///< Else the tag is the node's name.
  std::string_view nodeName;
};

/// Returns the number of elements of a tensor's repeated field.
inline std::uint64_t elementsIn(const WireField& field) {
  constexpr std::uint64_t kFloats = 5, kDoubles = 6, kComplexFloats = 9, kComplexDoubles = 12;
  if (!field.hasData || field.number == kTensorStrings) {
    return 1;
  }
  if (field.number == kFloats || field.number == kComplexFloats) {
    return field.data.size() / sizeof(float);
  }
  if (field.number == kDoubles || field.number == kComplexDoubles) {
    return field.data.size() / sizeof(double);
  }
  return static_cast<std::uint64_t>(
      std::count_if(field.data.begin(), field.data.end(), [](char byte) {
        return static_cast<unsigned char>(byte) < 0x80;  // the last byte of a varint
      }));
}

inline ValueFacts factsOf(std::string_view value) {
  constexpr std::uint64_t kNodeName = 7;
  ValueFacts facts;
  facts.hasTag = false;
  forEachField(value, [&](const WireField& field) {
    if (field.number == kValueTag) {
      facts.hasTag = !field.data.empty();
    } else if (field.number == kNodeName) {
      facts.nodeName = field.data;
    } else if (field.number == kValueTensor) {
      forEachField(field.data, [&](const WireField& part) {
        if (part.number == kTensorContent) {
          facts.contentBytes = part.data.size();
        } else if (part.number < facts.elements.size()) {
          facts.elements[part.number] += elementsIn(part);
        }
      });
    }
  });
  return facts;
}

/// Gets the facts of all values of an event in wire format, in the order in which decodeEvent()
/// returns the values. They point into `payload`.
///
/// @cost A pass over the bytes of the event's integers; other elements are not read.
inline void summaryFacts(std::string_view payload, std::vector<ValueFacts>* facts) {
  facts->clear();
  forEachField(payload, [&](const WireField& field) {
    if (field.number == kEventSummary) {
      forEachField(field.data, [&](const WireField& value) {
        if (value.number == kSummaryValue) {
          facts->push_back(factsOf(value.data));
        }
      });
    }
  });
}

/// Returns the facts of a value as Steptape would write it.
inline ValueFacts factsOf(const event::Value& value) {
  ValueFacts facts;
  if (const auto* tensor = std::get_if<event::Tensor>(&value.data)) {
    facts.contentBytes = tensor->content.size();
    facts.elements[kTensorStrings] = tensor->strings.size();
  }
  return facts;
}

}  // namespace steptape::detail::events
