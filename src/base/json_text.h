// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "steptape/base/json.h"

namespace steptape::detail {

// The parts of JSON as texts of their own, to be put together.

/// As appendJsonString().
inline std::string jsonString(std::string_view text) {
  std::string json;
  appendJsonString(&json, text);
  return json;
}

/// As appendJsonNumber().
inline std::string jsonNumber(double value) {
  std::string json;
  appendJsonNumber(&json, value);
  return json;
}

}  // namespace steptape::detail
