// SPDX-License-Identifier: Apache-2.0
#include "trace/json_value.h"

#include <charconv>
#include <cmath>
#include <limits>

#include "steptape/base/json.h"

namespace steptape::detail {
namespace {

constexpr std::int64_t kMaxMicros = 4'000'000'000'000'000;

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
  std::string quoted;
  appendJsonString(&quoted, text);
  return quoted;
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
  const bool isNegative = text.compare(0, 1, "-") == 0;
  const char* const end = text.data() + text.size();
  std::int64_t micros = 0;
  auto [rest, error] = std::from_chars(text.data() + (isNegative ? 1 : 0), end, micros);
  if (error != std::errc() || micros > kMaxMicros) {
    return {};
  }
  std::int64_t nanos = micros * 1000;
  if (rest != end && *rest == '.') {
    ++rest;
    for (std::int64_t unit = 100; rest != end && isDigit(*rest); unit /= 10) {
      nanos += (*rest++ - '0') * unit;
    }
  }
  if (rest != end) {  // an exponent, or no number at all
    const std::optional<double> value = number();
    if (!value || !(std::abs(*value) <= static_cast<double>(kMaxMicros))) {
      return {};
    }
    return std::llround(*value * 1000);
  }
  return isNegative ? -nanos : nanos;
}

}  // namespace steptape::detail
