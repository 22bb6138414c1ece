// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/tables/table.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "tools/steptape/terminal/screen_text.h"

namespace steptape::tools {
namespace {

/// Returns a line of the table; `textOf` returns its text in each column.
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

std::vector<TableColumn> fittedColumns(std::vector<TableColumn> columns,
                                       const std::vector<std::string>& dispensable, int indent,
                                       const Terminal& terminal) {
  constexpr int kLeastNameColumns = 16;
  if (!terminal.isTerminal) {
    return columns;
  }
  TableColumn names = std::move(columns.front());
  columns.erase(columns.begin());
  const int room = terminal.columns - indent;
  narrow(&columns, dispensable, room - std::min(kLeastNameColumns, widthOf(names)));
  for (std::string& name : names.cells) {
    name = fitted(name, std::max(kLeastNameColumns, room - widthOf(columns)), terminal.hasUtf8);
  }
  columns.insert(columns.begin(), std::move(names));
  return columns;
}

std::string tableText(const std::vector<TableColumn>& columns, int indent) {
  std::vector<int> widths;
  widths.reserve(columns.size());
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

std::string tableBelow(std::vector<TableColumn> columns,
                       const std::vector<std::string>& dispensable, int indent,
                       const Terminal& terminal) {
  if (columns.front().cells.empty()) {
    return "";
  }
  return '\n' + tableText(fittedColumns(std::move(columns), dispensable, indent, terminal), indent);
}

}  // namespace steptape::tools
