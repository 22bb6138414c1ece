// SPDX-License-Identifier: Apache-2.0
#include "tools/table.h"

#include <algorithm>

namespace steptape::tools {
namespace {

/// Columns that `text` takes on a terminal: bytes that go on with a UTF-8 character take none.
std::size_t widthOf(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

}  // namespace

std::string Table::toString(std::size_t indent) const {
  std::vector<std::size_t> widths(rows_.front().size());
  for (const auto& row : rows_) {
    for (std::size_t column = 0; column < row.size(); ++column) {
      widths[column] = std::max(widths[column], widthOf(row[column]));
    }
  }
  std::string lines;
  for (const auto& row : rows_) {
    lines.append(indent, ' ');
    for (std::size_t column = 0; column < row.size(); ++column) {
      const std::string padding(widths[column] - widthOf(row[column]), ' ');
      lines += column == 0 ? row[column] + padding : "  " + padding + row[column];
    }
    lines += '\n';
  }
  return lines;
}

}  // namespace steptape::tools
