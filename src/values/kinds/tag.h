// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "steptape/base/export.h"

namespace steptape::detail::values {

/// Checks that `tag` can name a series. Only the empty tag cannot. Tags are stored verbatim, and
/// '/' groups them on TensorBoard's page.
///
/// @throws  Error(kInvalidArgument) if `tag` is empty.
/// @threads Thread-safe.
STEPTAPE_EXPORT void checkTag(std::string_view tag);

/// Returns the group in which TensorBoard's scalars page shows `tag`: the part before its first
/// '/'.
inline std::string groupOf(std::string_view tag) {
  return std::string(tag.substr(0, tag.find('/')));
}

/// Returns the suffix of the tag of a percentile, such as "/p50" or "/p99.9".
///
/// @param percentile From 0 to 100.
/// @threads Thread-safe.
STEPTAPE_EXPORT std::string percentileSuffix(double percentile);

}  // namespace steptape::detail::values
