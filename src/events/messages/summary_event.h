// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "events/messages/wire_cursor.h"

namespace steptape::detail::events {

// Keys of fields in wire format: the field's number and, in the lower three bits, its wire type.
// @source tensorflow/core/util/event.proto, tensorflow/core/framework/{summary,tensor}.proto
enum WireKey : unsigned char {
  kWallTimeKey = 1 << 3 | 1,
  kStepKey = 2 << 3 | 0,
  kSummaryKey = 5 << 3 | 2,

  kValueKey = 1 << 3 | 2,

  kTagKey = 1 << 3 | 2,
  kSimpleValueKey = 2 << 3 | 5,
  kImageKey = 4 << 3 | 2,
  kHistogramKey = 5 << 3 | 2,
  kAudioKey = 6 << 3 | 2,
  kTensorKey = 8 << 3 | 2,
  kMetadataKey = 9 << 3 | 2,

  kPluginKey = 1 << 3 | 2,
  kDisplayNameKey = 2 << 3 | 2,
  kDescriptionKey = 3 << 3 | 2,
  kDataClassKey = 4 << 3 | 0,
  kPluginNameKey = 1 << 3 | 2,
  kPluginContentKey = 2 << 3 | 2,

  kTypeKey = 1 << 3 | 0,
  kShapeKey = 2 << 3 | 2,
  kContentKey = 4 << 3 | 2,
  kPackedFloatKey = 5 << 3 | 2,
  kFloatKey = 5 << 3 | 5,
};

/// A view of an event with a summary, in wire format.
struct SummaryEvent {
  double wallTime = 0;
  std::int64_t step = 0;
  WireCursor values;  ///< The summary's remaining values.

  /// @return true only if the payload has these fields, each at most once, in the order of their
  ///         numbers.
  bool take(std::string_view payload) {
    WireCursor event(payload);
    std::uint64_t stepBits = 0;
    std::string_view summary;
    if ((event.key(kWallTimeKey) && !event.float64(&wallTime)) ||
        (event.key(kStepKey) && !event.varint(&stepBits)) || !event.key(kSummaryKey) ||
        !event.bytes(&summary) || !event.isAtEnd()) {
      return false;
    }
    step = static_cast<std::int64_t>(stepBits);
    values = WireCursor(summary);
    return true;
  }

  bool nextValue(std::string_view* value) { return values.key(kValueKey) && values.bytes(value); }
};

inline bool isPluginData(std::string_view bytes) {
  WireCursor plugin(bytes);
  std::string_view field;
  if (plugin.key(kPluginNameKey) && !plugin.bytes(&field)) {
    return false;
  }
  return (!plugin.key(kPluginContentKey) || plugin.bytes(&field)) && plugin.isAtEnd();
}

/// Returns the name of the plugin in a SummaryMetadata message; empty if it names none. REQUIRES:
/// isMetadata(bytes).
inline std::string_view pluginNameIn(std::string_view bytes) {
  WireCursor metadata(bytes);
  std::string_view field;
  if (!metadata.key(kPluginKey) || !metadata.bytes(&field)) {
    return {};
  }
  WireCursor plugin(field);
  std::string_view name;
  return plugin.key(kPluginNameKey) && plugin.bytes(&name) ? name : std::string_view();
}

/// Returns whether these are fields of a SummaryMetadata message that decodeMetadata() accepts.
inline bool isMetadata(std::string_view bytes) {
  WireCursor metadata(bytes);
  std::string_view field;
  if (metadata.key(kPluginKey) && !(metadata.bytes(&field) && isPluginData(field))) {
    return false;
  }
  if (metadata.key(kDisplayNameKey) && !metadata.bytes(&field)) {
    return false;
  }
  if (metadata.key(kDescriptionKey) && !metadata.bytes(&field)) {
    return false;
  }
  std::uint64_t dataClass;
  return (!metadata.key(kDataClassKey) || metadata.varint(&dataClass)) && metadata.isAtEnd();
}

}  // namespace steptape::detail::events
