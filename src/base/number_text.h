// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>

namespace steptape::detail::base {

// Numbers in files of /proc and /sys. Both functions are safe in a signal handler.

/// Removes the number at the start of `text`, after blanks, and returns it.
inline std::optional<std::uint64_t> takeNumber(std::string_view* text) {
  text->remove_prefix(std::min(text->find_first_not_of(" \t"), text->size()));
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (error != std::errc()) {
    return std::nullopt;
  }
  text->remove_prefix(static_cast<std::size_t>(end - text->data()));
  return number;
}

/// Returns the number that follows `key` at the start of a line: 7 for "read_bytes:" in
/// "write_bytes: 3\nread_bytes: 7\n".
inline std::optional<std::uint64_t> numberAfter(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    if (text.substr(0, key.size()) == key) {
      text.remove_prefix(key.size());
      return takeNumber(&text);
    }
    const std::size_t end = text.find('\n');
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return std::nullopt;
}

}  // namespace steptape::detail::base
