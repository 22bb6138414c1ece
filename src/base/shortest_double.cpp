// SPDX-License-Identifier: Apache-2.0
#include "base/shortest_double.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <iomanip>
#include <limits>
#include <locale>
#include <sstream>

namespace steptape::detail::base {
namespace {

template <typename Float>
void appendPortable(std::string* out, Float value) {
  std::string digits;
  // Uses streams because printf() and strtod() depend on the locale of the process.
  for (int precision = std::numeric_limits<Float>::digits10;
       precision <= std::numeric_limits<Float>::max_digits10; ++precision) {
    std::ostringstream writer;
    writer.imbue(std::locale::classic());
    writer << std::setprecision(precision) << value;
    digits = writer.str();

    std::istringstream reader(digits);
    reader.imbue(std::locale::classic());
    Float back = 0;
    if (reader >> back && back == value) {
      break;
    }
  }
  out->append(digits);
}

// Times from 2004 to 2038 lie between 2^30 and 2^31 seconds since 1970, where doubles are 2^-22
// apart. Six or seven decimals distinguish them, and integer arithmetic finds these digits four
// times as fast as the general algorithm. Every line of an export has such a number.
constexpr int kFractionBits = 22;

bool isWallTime(double value) {
  return value > 0x1p30 && value < 0x1p31 &&
         value != static_cast<double>(static_cast<std::int64_t>(value));
}

/// Returns the decimal fraction, in the given units, that is nearest to `fraction` (in units of
/// 2^-22).
std::uint64_t decimalsOf(std::uint64_t fraction, std::uint64_t units) {
  return (fraction * units + (std::uint64_t{1} << (kFractionBits - 1))) >> kFractionBits;
}

/// Returns whether `decimals` is closer to `fraction` than half the distance to the next double. A
/// tie is impossible: it would need more factors of two than `units` has.
bool tellsApart(std::uint64_t decimals, std::uint64_t fraction, std::uint64_t units) {
  const std::uint64_t exact = fraction * units;
  const std::uint64_t rounded = decimals << kFractionBits;
  return 2 * (exact > rounded ? exact - rounded : rounded - exact) < units;
}

char* writeWallTime(char* out, double value) {
  const auto bits = static_cast<std::uint64_t>(value * 0x1p22);  // exact: the product is an integer
  const std::uint64_t fraction = bits & ((std::uint64_t{1} << kFractionBits) - 1);
  std::uint64_t units = 1'000'000;
  std::uint64_t decimals = decimalsOf(fraction, units);
  if (!tellsApart(decimals, fraction, units)) {
    units *= 10;
    decimals = decimalsOf(fraction, units);
  }
  char* const point = std::to_chars(out, out + 10, bits >> kFractionBits).ptr;
  // With a leading 1, to_chars() writes the leading zeros; the decimal point then overwrites the 1.
  out = std::to_chars(point, point + 8, units + decimals).ptr;
  *point = '.';
  while (out[-1] == '0') {
    --out;
  }
  return out;
}

}  // namespace

char* writeShortestDouble(char* out, double value) {
  if (isWallTime(value)) {
    return writeWallTime(out, value);
  }
#if defined(__cpp_lib_to_chars)
  // pandas.read_json() fails at digits that are no 64-bit integer.
  const bool hasExponent = std::abs(value) >= 0x1p63;
  return hasExponent ? std::to_chars(out, out + 24, value, std::chars_format::scientific).ptr
                     : std::to_chars(out, out + 24, value).ptr;
#else
  std::string digits;
  appendPortable(&digits, value);
  return std::copy(digits.begin(), digits.end(), out);
#endif
}

void appendShortestDouble(std::string* out, double value) {
  char digits[24];
  out->append(digits, writeShortestDouble(digits, value));
}

void appendShortestFloat(std::string* out, float value) {
#if defined(__cpp_lib_to_chars)
  char digits[24];
  out->append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
#else
  appendPortable(out, value);
#endif
}

void appendShortestDoublePortable(std::string* out, double value) {
  appendPortable(out, value);
}

void appendShortestFloatPortable(std::string* out, float value) {
  appendPortable(out, value);
}

}  // namespace steptape::detail::base
