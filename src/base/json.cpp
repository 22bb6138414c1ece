// SPDX-License-Identifier: Apache-2.0
#include "steptape/base/json.h"

#include <cmath>
#include <cstdint>
#include <cstring>

#include "base/json_chars.h"
#include "base/shortest_double.h"
#include "base/utf8.h"

namespace steptape {
namespace {

void appendEscaped(std::string* out, char c) {
  static constexpr char kHexDigits[] = "0123456789abcdef";
  switch (c) {
    case '"':
    case '\\':
      out->append({'\\', c});
      return;
    case '\n':
      out->append("\\n");
      return;
    case '\r':
      out->append("\\r");
      return;
    case '\t':
      out->append("\\t");
      return;
    default:
      break;
  }
  const auto byte = static_cast<unsigned char>(c);
  if (byte < 0x20) {
    out->append("\\u00").append({kHexDigits[byte >> 4], kHexDigits[byte & 0xf]});
  } else {
    out->push_back(c);
  }
}

}  // namespace

void appendJsonString(std::string* out, std::string_view text) {
  std::string replaced;
  if (!detail::base::isValidUtf8(text)) {
    replaced = detail::base::replaceInvalidUtf8(text);
    text = replaced;
  }
  out->push_back('"');
  for (const char c : text) {
    appendEscaped(out, c);
  }
  out->push_back('"');
}

namespace detail::base {

char* writeJsonNumber(char* out, double value) {
  if (std::isnan(value)) {
    return writeText(out, "\"NaN\"");
  }
  if (std::isinf(value)) {
    return writeText(out, value > 0 ? "\"Infinity\"" : "\"-Infinity\"");
  }
  if (value == 0 && std::signbit(value)) {
    return writeText(out, "-0.0");  // "-0" is an integer to some readers
  }
  return writeShortestDouble(out, value);
}

char* writeJsonReal(char* out, double value) {
  constexpr double kAllWhole = 0x1p53;  // from there on every double is a whole number
  if (!(std::abs(value) < kAllWhole)) {
    char* const end = writeJsonNumber(out, value);
    const bool isInteger = std::isfinite(value) &&
                           std::memchr(out, 'e', static_cast<std::size_t>(end - out)) == nullptr;
    return isInteger ? writeText(end, ".0") : end;
  }
  const auto whole = static_cast<std::int64_t>(value);
  if (static_cast<double>(whole) != value) {
    return writeShortestDouble(out, value);
  }
  if (whole == 0 && std::signbit(value)) {
    *out++ = '-';
  }
  return writeText(writeJsonInteger(out, whole), ".0");
}

}  // namespace detail::base

void appendJsonNumber(std::string* out, double value) {
  char digits[detail::base::kMaxJsonNumber];
  out->append(digits, detail::base::writeJsonNumber(digits, value));
}

void appendJsonInteger(std::string* out, std::int64_t value) {
  char digits[detail::base::kMaxJsonNumber];
  out->append(digits, detail::base::writeJsonInteger(digits, value));
}

}  // namespace steptape
