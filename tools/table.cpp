// SPDX-License-Identifier: Apache-2.0
#include "tools/table.h"

#include <algorithm>
#include <cstddef>

#include "tools/screen_text.h"

namespace steptape::tools {
namespace {

constexpr int kGap = 2;

std::string spaces(int count) {
  return std::string(static_cast<std::size_t>(std::max(count, 0)), ' ');
}

/// A line of the table; `textOf` gives each column's text of it.
template <typename TextOf>
std::string tableLine(const std::vector<TableColumn>& columns, int indent, TextOf textOf) {
  std::string line = spaces(indent - kGap);
  for (const TableColumn& column : columns) {
    const std::string& text = textOf(column);
    const std::string padding = spaces(widthOf(column) - columnsOf(text));
    const bool isLeft = column.align == TableColumn::Align::kLeft;
    line += spaces(kGap) + (isLeft ? text + padding : padding + text);
  }
  return line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
}

}  // namespace

int widthOf(const TableColumn& column) {
  int width = columnsOf(column.title);
  for (const std::string& cell : column.cells) {
    width = std::max(width, columnsOf(cell));
  }
  return width;
}

int widthOf(const std::vector<TableColumn>& columns) {
  int width = 0;
  for (const TableColumn& column : columns) {
    width += widthOf(column) + kGap;
  }
  return width;
}

std::string tableText(const std::vector<TableColumn>& columns, int indent) {
  std::string text;
  if (std::any_of(columns.begin(), columns.end(),
                  [](const TableColumn& column) { return !column.title.empty(); })) {
    text += tableLine(
        columns, indent, [](const TableColumn& column) -> const auto& { return column.title; });
  }
  for (std::size_t row = 0; row < columns.front().cells.size(); ++row) {
    text += tableLine(
        columns,
        indent, [row](const TableColumn& column) -> const auto& { return column.cells[row]; });
  }
  return text;
}

}  // namespace steptape::tools
