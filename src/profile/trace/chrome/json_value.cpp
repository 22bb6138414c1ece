// SPDX-License-Identifier: Apache-2.0
#include "profile/trace/chrome/json_value.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/json_text.h"

namespace steptape::detail::profile {
namespace {

/// More than 100 years, and small enough for sums of two to stay in range.
constexpr std::uint64_t kMaxMicros = 4'000'000'000'000'000;

template <typename Integer>
std::optional<std::int64_t> parsed(const std::string& text) {
  Integer value = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || rest != end) {
    return {};
  }
  return static_cast<std::int64_t>(value);
}

bool isDigit(char c) {
  return c >= '0' && c <= '9';
}

}  // namespace

std::string JsonValue::json() const {
  if (!isString) {
    return text;
  }
  return base::jsonString(text);
}

std::optional<std::int64_t> JsonValue::integer() const {
  // Addresses need all 64 bits.
  const std::optional<std::int64_t> value = parsed<std::int64_t>(text);
  return value ? value : parsed<std::uint64_t>(text);
}

std::optional<double> JsonValue::number() const {
  if (!isString) {
    const bool isNumber = !text.empty() && (isDigit(text.back()));
    return isNumber ? std::optional<double>(real) : std::nullopt;
  }
  if (text == "NaN") {
    return std::numeric_limits<double>::quiet_NaN();
  }
  if (text == "Infinity") {
    return std::numeric_limits<double>::infinity();
  }
  if (text == "-Infinity") {
    return -std::numeric_limits<double>::infinity();
  }
  return {};
}

std::optional<std::int64_t> JsonValue::microsToNanos() const {
  const char* const end = text.data() + text.size();
  std::uint64_t micros = 0;  // unsigned
  auto [rest, error] = std::from_chars(text.data(), end, micros);
  if (error != std::errc() || micros > kMaxMicros) {
    return {};
  }
  auto nanos = static_cast<std::int64_t>(micros) * 1000;
  if (rest != end && *rest == '.') {
    ++rest;
    std::int64_t unit = 1000;
    for (; rest != end && isDigit(*rest) && unit > 1; ++rest) {
      unit /= 10;
      nanos += (*rest - '0') * unit;
    }
    // Others write the nearest double with all of its digits: 52.927999999999997 for 52.928.
    nanos += rest != end && isDigit(*rest) && *rest >= '5' ? 1 : 0;
    rest = std::find_if_not(rest, end, isDigit);
  }
  if (rest == end) {
    return nanos;
  }
  const std::optional<double> value = number();  // if it has an exponent
  if (!value || !(*value >= 0 && *value <= static_cast<double>(kMaxMicros))) {
    return {};
  }
  return std::llround(*value * 1000);
}

}  // namespace steptape::detail::profile
