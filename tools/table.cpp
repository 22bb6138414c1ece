// SPDX-License-Identifier: Apache-2.0
#include "tools/table.h"

#include <algorithm>
#include <cstddef>

#include "tools/screen_text.h"

namespace steptape::tools {
namespace {

/// A line of the table; `textOf` gives each column's text of it.
template <typename TextOf>
std::string tableLine(const std::vector<TableColumn>& columns, const std::vector<int>& widths,
                      int indent, TextOf textOf) {
  std::string line = spaces(indent - kTableGap);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const std::string& text = textOf(columns[i]);
    const std::string padding = spaces(widths[i] - columnsOf(text));
    const bool isLeft = columns[i].align == TableColumn::Align::kLeft;
    line += spaces(kTableGap) + (isLeft ? text + padding : padding + text);
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
    width += widthOf(column) + kTableGap;
  }
  return width;
}

void narrow(std::vector<TableColumn>* columns, const std::vector<std::string>& dispensable,
            int width) {
  for (const std::string& title : dispensable) {
    if (widthOf(*columns) <= width) {
      return;
    }
    columns->erase(std::remove_if(columns->begin(), columns->end(),
                                  [&](const TableColumn& column) { return column.title == title; }),
                   columns->end());
  }
}

std::string tableText(const std::vector<TableColumn>& columns, int indent) {
  std::vector<int> widths;
  for (const TableColumn& column : columns) {
    widths.push_back(widthOf(column));
  }
  std::string text;
  if (std::any_of(columns.begin(), columns.end(),
                  [](const TableColumn& column) { return !column.title.empty(); })) {
    text += tableLine(
        columns, widths, indent,
        [](const TableColumn& column) -> const auto& { return column.title; });
  }
  for (std::size_t row = 0; row < columns.front().cells.size(); ++row) {
    text += tableLine(
        columns, widths,
        indent, [row](const TableColumn& column) -> const auto& { return column.cells[row]; });
  }
  return text;
}

}  // namespace steptape::tools
