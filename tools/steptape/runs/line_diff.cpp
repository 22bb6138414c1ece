// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/runs/line_diff.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <sstream>

namespace steptape::tools {
namespace {

using Lines = std::vector<std::string>;

Lines linesOf(const std::string& text) {
  Lines lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    lines.push_back(line);
  }
  return lines;
}

/// Lengths of the longest common sequences of what begins at line i of one and line j of the other.
class CommonLengths {
 public:
  CommonLengths(const Lines& first, const Lines& second)
      : columns_(second.size() + 1), lengths_((first.size() + 1) * columns_) {
    for (std::size_t i = first.size(); i-- > 0;) {
      for (std::size_t j = second.size(); j-- > 0;) {
        lengths_[i * columns_ + j] =
            first[i] == second[j] ? at(i + 1, j + 1) + 1 : std::max(at(i + 1, j), at(i, j + 1));
      }
    }
  }
  std::uint32_t at(std::size_t i, std::size_t j) const { return lengths_[i * columns_ + j]; }

 private:
  std::size_t columns_;
  std::vector<std::uint32_t> lengths_;
};

/// Removes the lines that both begin with, and those that both end with.
void removeCommonEnds(Lines* first, Lines* second) {
  const auto begins = std::mismatch(first->begin(), first->end(), second->begin(), second->end());
  first->erase(first->begin(), begins.first);
  second->erase(second->begin(), begins.second);
  const auto ends = std::mismatch(first->rbegin(), first->rend(), second->rbegin(), second->rend());
  first->erase(ends.first.base(), first->end());
  second->erase(ends.second.base(), second->end());
}

}  // namespace

std::vector<std::string> lineDiff(const std::string& first, const std::string& second) {
  constexpr std::size_t kMostPairs = 4'000'000;
  Lines left = linesOf(first);
  Lines right = linesOf(second);
  removeCommonEnds(&left, &right);
  Lines lines;
  std::size_t i = 0;
  std::size_t j = 0;
  if (left.size() * right.size() <= kMostPairs) {
    const CommonLengths common(left, right);
    while (i < left.size() && j < right.size()) {
      if (left[i] == right[j]) {
        ++i;
        ++j;
      } else if (common.at(i + 1, j) >= common.at(i, j + 1)) {
        lines.push_back("- " + left[i++]);
      } else {
        lines.push_back("+ " + right[j++]);
      }
    }
  }
  for (; i < left.size(); ++i) {
    lines.push_back("- " + left[i]);
  }
  for (; j < right.size(); ++j) {
    lines.push_back("+ " + right[j]);
  }
  return lines;
}

}  // namespace steptape::tools
