// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "event/wire_cursor.h"

namespace steptape::detail {

/// A view of one field of a message in the Protocol Buffers wire format.
struct WireField {
  std::uint64_t number = 0;
  bool hasData = false;    ///< Whether it is length-delimited.
  std::string_view data;   ///< Empty if not length-delimited.
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
        isGood = field.hasData = cursor.bytes(&field.data);
        break;
      case 5:
        isGood = cursor.float32(&fixed32);
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

}  // namespace steptape::detail
