// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/help/value_check.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace steptape::tools {
namespace {

template <typename IsAllowed>
CLI::Validator checkNumber(const std::string& expected, IsAllowed isAllowed) {
  return CLI::Validator(
      [=](const std::string& text) {
        double number = 0;
        const bool isNumber = CLI::detail::lexical_cast(text, number);
        return isNumber && isAllowed(number) ? std::string()
                                             : fmt::format("got {}; expected {}", text, expected);
      },
      "NUMBER");
}

}  // namespace

CLI::Validator oneOf(const std::vector<std::string>& names) {
  const auto problemOf = [names](const std::string& text) {
    return std::find(names.begin(), names.end(), text) != names.end()
               ? std::string()
               : fmt::format("got {}; expected {}{}{}", text,
                             fmt::join(names.begin(), names.end() - 1, ", "),
                             names.size() > 1 ? " or " : "", names.back());
  };
  return CLI::Validator(problemOf, fmt::format("{{{}}}", fmt::join(names, ",")));
}

CLI::Validator inRange(double least, double greatest) {
  return checkNumber(fmt::format("a number from {} to {}", least, greatest),
                     [=](double number) { return least <= number && number <= greatest; });
}

CLI::Validator atLeast(double least) {
  return checkNumber(fmt::format("a number of at least {}", least),
                     [=](double number) { return number >= least; });
}

}  // namespace steptape::tools
