// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "steptape/events/event.h"

namespace steptape::detail::log {

/// Returns the display name and description that a call's options give to a tag.
template <typename Options>
event::SummaryMetadata namesOf(const Options& options) {
  event::SummaryMetadata metadata;
  metadata.displayName = options.displayName;
  metadata.description = options.description;
  return metadata;
}

}  // namespace steptape::detail::log
