// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/programs/words.h"

#include <algorithm>

namespace steptape::tools {

std::vector<std::string> wordsOf(const std::string& text, const char* separators) {
  std::vector<std::string> words;
  for (std::size_t begin = text.find_first_not_of(separators); begin != std::string::npos;) {
    const std::size_t end = std::min(text.find_first_of(separators, begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    begin = text.find_first_not_of(separators, end);
  }
  return words;
}

}  // namespace steptape::tools
