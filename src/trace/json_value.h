// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace steptape::detail {

/// A value in JSON that someone else wrote.
struct JsonValue {
  std::string text;  ///< Of a string what it means; of others the JSON, as `{"a": [1, 2]}`.
  double real = 0;   ///< Of a number.
  bool isString = false;

  std::string json() const;

  /// Empty if it is something else. A string that stands for a number is one.
  std::optional<std::int64_t> integer() const;
  std::optional<double> number() const;
  /// Of microseconds, to the last digit; empty if they are negative, or 4e15 and more.
  std::optional<std::int64_t> microsToNanos() const;
};

struct JsonMember {
  std::string key;
  JsonValue value;
};

}  // namespace steptape::detail
