// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "events/messages/wire_format.h"

namespace steptape {

// Fields of messages that tests assemble by hand.

inline std::string bytesField(std::uint32_t field, std::string_view bytes) {
  std::string out;
  detail::events::appendBytesField(&out, field, bytes);
  return out;
}

inline std::string numberField(std::uint32_t field, std::uint64_t value) {
  std::string out;
  detail::events::appendVarintField(&out, field, value);
  return out;
}

}  // namespace steptape
