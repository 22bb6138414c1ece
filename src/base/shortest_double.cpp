// SPDX-License-Identifier: Apache-2.0
#include "base/shortest_double.h"

#include <charconv>
#include <iomanip>
#include <limits>
#include <locale>
#include <sstream>

namespace steptape::detail {

void appendShortestDouble(std::string* out, double value) {
#if defined(__cpp_lib_to_chars)
  char digits[32];  // "-2.2250738585072014e-308" is as long as it gets
  const auto result = std::to_chars(digits, digits + sizeof digits, value);
  out->append(digits, result.ptr);
#else
  appendShortestDoublePortable(out, value);
#endif
}

void appendShortestDoublePortable(std::string* out, double value) {
  std::string digits;
  // Streams, because printf() and strtod() follow the locale of the process.
  for (int precision = std::numeric_limits<double>::digits10;
       precision <= std::numeric_limits<double>::max_digits10; ++precision) {
    std::ostringstream writer;
    writer.imbue(std::locale::classic());
    writer << std::setprecision(precision) << value;
    digits = writer.str();

    std::istringstream reader(digits);
    reader.imbue(std::locale::classic());
    double back = 0;
    if (reader >> back && back == value) {
      break;
    }
  }
  out->append(digits);
}

}  // namespace steptape::detail
