// SPDX-License-Identifier: Apache-2.0
#include "base/shortest_double.h"

#include <charconv>
#include <iomanip>
#include <limits>
#include <locale>
#include <sstream>

namespace steptape::detail {
namespace {

#if defined(__cpp_lib_to_chars)
template <typename Float>
void append(std::string* out, Float value) {
  char digits[32];  // "-2.2250738585072014e-308" is as long as it gets
  const auto result = std::to_chars(digits, digits + sizeof digits, value);
  out->append(digits, result.ptr);
}
#endif

template <typename Float>
void appendPortable(std::string* out, Float value) {
  std::string digits;
  // Streams, because printf() and strtod() follow the locale of the process.
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

}  // namespace

void appendShortestDouble(std::string* out, double value) {
#if defined(__cpp_lib_to_chars)
  append(out, value);
#else
  appendPortable(out, value);
#endif
}

void appendShortestFloat(std::string* out, float value) {
#if defined(__cpp_lib_to_chars)
  append(out, value);
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

}  // namespace steptape::detail
