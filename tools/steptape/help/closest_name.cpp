// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/help/closest_name.h"

#include <algorithm>
#include <cstddef>

namespace steptape::tools {
namespace {

/// Returns the optimal string alignment distance.
std::size_t typingErrors(const std::string& left, const std::string& right) {
  std::vector<std::vector<std::size_t>> errors(left.size() + 1,
                                               std::vector<std::size_t>(right.size() + 1));
  for (std::size_t i = 0; i <= left.size(); ++i) {
    for (std::size_t j = 0; j <= right.size(); ++j) {
      if (i == 0 || j == 0) {
        errors[i][j] = i + j;
        continue;
      }
      const std::size_t wrong = left[i - 1] == right[j - 1] ? 0 : 1;
      errors[i][j] =
          std::min({errors[i - 1][j] + 1, errors[i][j - 1] + 1, errors[i - 1][j - 1] + wrong});
      const bool areSwapped =
          i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1];
      if (areSwapped) {
        errors[i][j] = std::min(errors[i][j], errors[i - 2][j - 2] + 1);
      }
    }
  }
  return errors[left.size()][right.size()];
}

}  // namespace

std::string closestName(const std::string& word, const std::vector<std::string>& names) {
  std::string closest;
  std::size_t fewest = 0;
  for (const std::string& name : names) {
    const std::size_t errors = typingErrors(word, name);
    if (errors * 3 <= name.size() && (closest.empty() || errors < fewest)) {
      closest = name;
      fewest = errors;
    }
  }
  return closest;
}

}  // namespace steptape::tools
