// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace steptape::detail::storage {

// S3's answers are flat XML without attributes that matter: an element is found by its name.

/// Takes the next element of this name from the front of `*xml`, which then begins behind it.
///
/// @return what is between its tags; nothing if there is none.
std::optional<std::string_view> nextElement(std::string_view* xml, std::string_view name);

/// Returns the text of the first element of this name, without entities; empty if there is none.
std::string elementText(std::string_view xml, std::string_view name);

}  // namespace steptape::detail::storage
