// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "steptape/base/export.h"
#include "steptape/events/event.h"

namespace steptape::detail::events {

using MetadataByTag = std::map<std::string, event::SummaryMetadata, std::less<>>;

/// Returns the event with metadata added to the first value of each tag. All other bytes stay
/// unchanged, including fields that Steptape does not know.
///
/// Metadata is merged with metadata that the value already has; the added fields win.
///
/// @param event REQUIRES: decodeEvent() accepts it, as a summary.
/// @throws Error(kInvalidArgument) as encodeMetadata().
STEPTAPE_EXPORT std::string addMetadata(std::string_view event, MetadataByTag metadata);

}  // namespace steptape::detail::events
