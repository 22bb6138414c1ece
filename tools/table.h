// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace steptape::tools {

/// A table for people: columns as wide as their longest cell, the first one aligned to the left and
/// the others, which hold numbers, to the right.
class Table {
 public:
  explicit Table(std::vector<std::string> titles) : rows_{std::move(titles)} {}

  /// REQUIRES: as many cells as there are titles.
  void addRow(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }

  /// The lines, each after `indent` spaces.
  std::string toString(std::size_t indent) const;

 private:
  std::vector<std::vector<std::string>> rows_;  // the titles first
};

}  // namespace steptape::tools
