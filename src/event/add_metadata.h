// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "steptape/base/export.h"
#include "steptape/event/event.h"

namespace steptape::detail {

using MetadataByTag = std::map<std::string, event::SummaryMetadata, std::less<>>;

/// The event with metadata added to the first value of each of the tags. All else stays byte for
/// byte, what Steptape does not know of it too.
///
/// Metadata that the value has already is merged with it; what is added takes precedence.
///
/// @param event REQUIRES: decodeEvent() takes it, as a summary.
/// @throws Error(kInvalidArgument) as encodeMetadata().
STEPTAPE_EXPORT std::string addMetadata(std::string_view event, MetadataByTag metadata);

}  // namespace steptape::detail
