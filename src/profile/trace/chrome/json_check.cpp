// SPDX-License-Identifier: Apache-2.0
#include "profile/trace/chrome/json_check.h"

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/json_text.h"
#include "base/text.h"

namespace steptape::detail::profile {
namespace {

/// Fewer than readChromeTrace() reads: the value will be in other objects.
constexpr int kMaxLevels = 900;

/// Numbers of so many digits, with an exponent of two digits, are far from the limits of a double.
constexpr std::size_t kMaxDigits = 100;
constexpr std::size_t kMaxExponentDigits = 2;

/// Stops nlohmann-json's parser at what it accepts and other readers may not.
class LimitListener {
 public:
  // NOLINTBEGIN(readability-identifier-naming): the names are the parser's.
  static bool null() { return true; }
  static bool boolean(bool /*value*/) { return true; }
  static bool number_integer(std::int64_t /*value*/) { return true; }
  static bool number_unsigned(std::uint64_t /*value*/) { return true; }
  static bool number_float(double /*value*/, const std::string& text) {
    const std::size_t letter = text.find_first_of("eE");
    if (letter == std::string::npos) {
      return text.size() <= kMaxDigits;
    }
    const std::size_t exponent = text.find_first_not_of("+-", letter + 1);
    return exponent <= kMaxDigits && text.size() - exponent <= kMaxExponentDigits;
  }
  static bool string(std::string& /*value*/) { return true; }
  static bool binary(std::vector<std::uint8_t>& /*value*/) { return true; }  // JSON has none
  static bool key(std::string& /*value*/) { return true; }
  bool start_object(std::size_t /*size*/) { return ++levels_ <= kMaxLevels; }
  bool start_array(std::size_t /*size*/) { return ++levels_ <= kMaxLevels; }
  bool end_object() { return levels_-- > 0; }
  bool end_array() { return levels_-- > 0; }
  static bool parse_error(std::size_t /*position*/, const std::string& /*token*/,
                          const nlohmann::json::exception& /*error*/) {
    return false;
  }
  // NOLINTEND(readability-identifier-naming)

 private:
  int levels_ = 0;
};

}  // namespace

bool isJson(std::string_view text) {
  // The parser skips a byte order mark, and takes a null character for the end of the text.
  if (base::startsWith(text, "\xEF\xBB\xBF") || text.find('\0') != std::string_view::npos) {
    return false;
  }
  LimitListener listener;
  return nlohmann::json::sax_parse(text, &listener);
}

bool areJsonMembers(std::string_view text) {
  return isJson("{" + std::string(text) + "}");
}

std::string validJson(std::string_view text) {
  return isJson(text) ? std::string(text) : base::jsonString(text);
}

}  // namespace steptape::detail::profile
