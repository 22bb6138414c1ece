// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "events/messages/wire_fields.h"

namespace steptape::detail::events {

/// Returns what a record holds that is framed like an event and is not one, such as
/// "a tf.train.Example"; null if it may be an event.
///
/// Both formats begin with a message in field 1, where an event has its wall time, a number.
/// @source tensorflow/core/example/example.proto; visualdl/proto/record.proto
inline const char* otherFormatOf(std::string_view payload) {
  constexpr char kMessageInField1 = 1 << 3 | 2;
  if (payload.empty() || payload.front() != kMessageInField1) {
    return nullptr;
  }
  bool isFirst = true;
  bool hasNumber = false;  // VisualDL's values begin with their number, an Example with a message
  forEachField(payload, [&](const WireField& field) {
    if (isFirst) {
      forEachField(field.data, [&](const WireField& inner) {
        hasNumber = hasNumber || (inner.number == 1 && !inner.hasData) || inner.number == 3;
      });
    }
    isFirst = false;
  });
  return hasNumber ? "a record of VisualDL" : "a tf.train.Example or another message";
}

}  // namespace steptape::detail::events
