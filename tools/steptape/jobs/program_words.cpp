// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/jobs/program_words.h"

#include <algorithm>

namespace steptape::tools {
namespace {

constexpr char kMark = '=';

}  // namespace

std::vector<std::string> withMarkedProgram(std::vector<std::string> arguments) {
  if (arguments.empty() || arguments.front() != "run") {
    return arguments;
  }
  const auto dashes = std::find(arguments.begin(), arguments.end(), "--");
  if (dashes != arguments.end()) {
    std::for_each(dashes + 1, arguments.end(), [](std::string& word) { word.insert(0, 1, kMark); });
  }
  return arguments;
}

std::vector<std::string> unmarkedProgram(std::vector<std::string> words) {
  for (std::string& word : words) {
    if (word.empty() || word.front() != kMark) {
      return {};
    }
    word.erase(0, 1);
  }
  return words;
}

}  // namespace steptape::tools
