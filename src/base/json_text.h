// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "steptape/base/json.h"

namespace steptape::detail::base {

// JSON strings and numbers as std::string, for concatenation.

/// Returns what appendJsonString() appends.
inline std::string jsonString(std::string_view text) {
  std::string json;
  appendJsonString(&json, text);
  return json;
}

/// Returns what appendJsonNumber() appends.
inline std::string jsonNumber(double value) {
  std::string json;
  appendJsonNumber(&json, value);
  return json;
}

}  // namespace steptape::detail::base
