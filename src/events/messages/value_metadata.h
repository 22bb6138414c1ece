// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>

#include "steptape/events/event.h"
#include "steptape/events/plugin_content.h"

namespace steptape::detail::events {

/// Returns the plugin of a value in the compatible form, which its field implies; null for a
/// tensor.
inline const char* pluginOfField(const event::Value::Data& data) {
  if (std::holds_alternative<float>(data)) {
    return event::kScalarsPlugin;
  }
  if (std::holds_alternative<event::SummaryImage>(data)) {
    return event::kImagesPlugin;
  }
  if (std::holds_alternative<event::SummaryHistogram>(data)) {
    return event::kHistogramsPlugin;
  }
  return std::holds_alternative<event::SummaryAudio>(data) ? event::kAudioPlugin : nullptr;
}

/// Returns whether TensorBoard's data server serves no image, audio or graph whose tag or run has
/// this name: it answers HTTP 400, because it cannot read the keys that it makes of names of which
/// JSON escapes a character.
/// @source tensorboard/data/server/blob_key.rs, from_str
inline bool isNoBlobName(std::string_view name) {
  return std::any_of(name.begin(), name.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\';
  });
}

inline bool hasNames(const event::SummaryMetadata& metadata) {
  return !metadata.displayName.empty() || !metadata.description.empty();
}

/// Returns the metadata of a value in the compatible form. Its field implies the plugin, so only a
/// display name or description needs metadata. The data class is included, because the fast data
/// server discards such values without it.
inline std::optional<event::SummaryMetadata> metadataIfNamed(event::SummaryMetadata metadata) {
  if (!hasNames(metadata)) {
    return std::nullopt;
  }
  return metadata;
}

}  // namespace steptape::detail::events
