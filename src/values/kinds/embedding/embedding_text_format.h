// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace steptape::detail::values {

/// A field of a message in Protocol Buffers' text format, with its position.
struct TextField {
  std::string_view name;
  std::size_t begin = 0;          ///< Start of the name.
  std::size_t end = 0;            ///< End of the value.
  std::string text;               ///< Bytes of a string.
  std::vector<TextField> fields;  ///< Fields of a message.
};

/// Finds the fields of a message without knowing its type. Does not interpret numbers and names.
///
/// @return nothing if a string, bracket or comment does not end, or if a name or value is missing.
/// @source https://protobuf.dev/reference/protobuf/textformat-spec/
std::optional<std::vector<TextField>> readTextFormat(std::string_view text);

/// Returns `bytes` in quotes. UTF-8 stays readable.
std::string quotedText(std::string_view bytes);

}  // namespace steptape::detail::values
