// SPDX-License-Identifier: Apache-2.0
#include "profile/trace/xplane/xprof_names.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace steptape::detail::profile {
namespace {

constexpr std::string_view kLower = "abcdefghijklmnopqrstuvwxyz";
constexpr std::string_view kUpper = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

bool isIn(std::string_view characters, char c) {
  return characters.find(c) != std::string_view::npos;
}

bool isLetterOrDigit(char c) {
  return isIn(kLower, c) || isIn(kUpper, c) || (c >= '0' && c <= '9');
}

/// Returns whether XProf would regard it as something else than an operator, or ignore it.
bool needsPrefix(std::string_view name) {
  constexpr std::array<std::string_view, 6> kMeanings = {
      "train", "test", "TraceContext", "IteratorGetNext", "EagerExecute", "FunctionRun"};
  const bool startsWell = !name.empty() && (isLetterOrDigit(name[0]) || name[0] == '.');
  return !startsWell ||
         std::any_of(kMeanings.begin(), kMeanings.end(),
                     [&](std::string_view start) { return base::startsWith(name, start); });
}

std::string nameOf(std::string_view text) {
  std::string name;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string_view rest = text.substr(i);
    if (base::startsWith(rest, "::") || base::startsWith(rest, ": ")) {
      name += rest[1] == ':' ? '.' : '/';
      ++i;
    } else {
      name += isLetterOrDigit(text[i]) || isIn("_./>-", text[i]) ? text[i] : '_';
    }
  }
  return name;
}

std::string typeOf(std::string_view name) {
  std::string type(name.substr(name.find_last_of("./") + 1));  // the whole name if neither occurs
  for (char& c : type) {
    c = isLetterOrDigit(c) ? c : '_';
  }
  const bool hasUpper = type.find_first_of(kUpper) != std::string::npos;
  const bool startsWell = !type.empty() && (isIn(kUpper, type[0]) || type[0] == '_' ||
                                            (isIn(kLower, type[0]) && !hasUpper));
  return startsWell ? type : "_" + type;
}

}  // namespace

std::string xprofOperatorName(std::string_view text) {
  std::string name = nameOf(text);
  if (needsPrefix(name)) {
    name.insert(0, "op/");
  }
  return name + ":" + typeOf(name);
}

}  // namespace steptape::detail::profile
