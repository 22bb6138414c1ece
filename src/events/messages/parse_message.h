// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <string_view>

namespace steptape::detail::events {

/// Parses a Protocol Buffers message. The library's own functions take the size as an int.
///
/// @return false if `bytes` is not such a message; `*message` is then unspecified.
template <typename Message>
bool parseMessage(std::string_view bytes, Message* message) {
  return bytes.size() <= std::numeric_limits<int>::max() &&
         message->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

}  // namespace steptape::detail::events
