// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "events/messages/wire_cursor.h"
#include "events/messages/wire_format.h"

namespace steptape::detail::events {

/// A view of one field of a message in the Protocol Buffers wire format.
struct WireField {
  std::uint64_t number = 0;
  WireType wireType = WireType::kVarint;
  bool hasData = false;   ///< Whether it is length-delimited.
  std::string_view data;  ///< Empty if not length-delimited.
  // The value of a field that is not length-delimited, by its wire type.
  std::uint64_t varint = 0;
  double float64 = 0;
  float float32 = 0;
  std::string_view whole;  ///< Key, length and data.
};

/// Calls `take(field)` for each field of `message`, and stops at bytes that are not a field. Fields
/// in a group, a form that writers no longer use, are reported like fields of the message.
///
/// @source https://protobuf.dev/programming-guides/encoding/
template <typename Take>
void forEachField(std::string_view message, const Take& take) {
  WireCursor cursor(message);
  while (!cursor.isAtEnd()) {
    WireField field;
    const char* const begin = cursor.position();
    std::uint64_t key;
    if (!cursor.varint(&key)) {
      return;
    }
    field.wireType = static_cast<WireType>(key & 7);
    bool isGood = true;
    switch (key & 7) {
      case 0:
        isGood = cursor.varint(&field.varint);
        break;
      case 1:
        isGood = cursor.float64(&field.float64);
        break;
      case 2:
        isGood = field.hasData = cursor.bytes(&field.data);
        break;
      case 5:
        isGood = cursor.float32(&field.float32);
        break;
      default:  // start or end of a group
        break;
    }
    if (!isGood) {
      return;
    }
    field.number = key >> 3;
    field.whole = {begin, static_cast<std::size_t>(cursor.position() - begin)};
    take(field);
  }
}

}  // namespace steptape::detail::events
