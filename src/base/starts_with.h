// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace steptape::detail {

inline bool startsWith(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}

}  // namespace steptape::detail
