// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <utility>

#include "steptape/event/event.h"

namespace steptape::detail {

/// What a value of the compatible form needs: its field says which plugin shows it, so that only
/// names are left to tell. With the data class, without which the fast data server would drop them.
inline std::optional<SummaryMetadata> metadataIfNamed(SummaryMetadata metadata) {
  if (metadata.displayName.empty() && metadata.description.empty()) {
    return std::nullopt;
  }
  return metadata;
}

}  // namespace steptape::detail
