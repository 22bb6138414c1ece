// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "steptape/base/export.h"

namespace steptape::detail::profile {

/// A value in JSON from another program.
struct STEPTAPE_EXPORT JsonValue {
  std::string text;  ///< The value of a string; else the JSON, such as `{"a": [1, 2]}`.
  double real = 0;   ///< For a number.
  bool isString = false;

  std::string json() const;

  /// Returns an integer, also from a string that contains one; empty for anything else.
  std::optional<std::int64_t> integer() const;
  std::optional<double> number() const;
  /// Converts microseconds, rounded to whole nanoseconds; empty if they are negative, or 4e15 or
  /// more.
  std::optional<std::int64_t> microsToNanos() const;
};

struct JsonMember {
  std::string key;
  JsonValue value;
};

}  // namespace steptape::detail::profile
