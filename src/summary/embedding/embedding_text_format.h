// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace steptape::detail {

/// A field of a message in Protocol Buffers' text format, and where it is.
struct TextField {
  std::string_view name;
  std::size_t begin = 0;          ///< Begin of the name.
  std::size_t end = 0;            ///< Behind the value.
  std::string text;               ///< Of a string: its bytes.
  std::vector<TextField> fields;  ///< Of a message.
};

/// Finds a message's fields without knowing its type. What numbers and names stand for is not
/// looked at.
///
/// @return nothing if a string, bracket or comment does not end, or a name or value is missing.
/// @source https://protobuf.dev/reference/protobuf/textformat-spec/
std::optional<std::vector<TextField>> readTextFormat(std::string_view text);

/// `bytes` in quotes. UTF-8 stays readable.
std::string quotedText(std::string_view bytes);

}  // namespace steptape::detail
