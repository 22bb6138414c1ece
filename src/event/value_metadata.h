// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <utility>
#include <variant>

#include "steptape/event/event.h"
#include "steptape/event/plugin_content.h"

namespace steptape::detail {

/// The plugin that shows a value of the compatible form, by its field; null for a tensor.
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

inline bool hasNames(const event::SummaryMetadata& metadata) {
  return !metadata.displayName.empty() || !metadata.description.empty();
}

/// What a value of the compatible form needs: its field says which plugin shows it, so that only
/// names are left to tell. With the data class, without which the fast data server would drop them.
inline std::optional<event::SummaryMetadata> metadataIfNamed(event::SummaryMetadata metadata) {
  if (!hasNames(metadata)) {
    return std::nullopt;
  }
  return metadata;
}

}  // namespace steptape::detail
