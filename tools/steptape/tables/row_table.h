// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tools/steptape/tables/table.h"
#include "tools/steptape/terminal/screen_text.h"
#include "tools/steptape/terminal/terminal.h"

namespace steptape::tools {

// Tables with a row for each object and a column for each property.

/// Returns a column of numbers: `text` of each row.
template <typename Row, typename Text>
TableColumn numberColumn(const char* title, const std::vector<Row>& rows, Text text) {
  TableColumn column{title};
  for (const Row& row : rows) {
    column.cells.push_back(text(row));
  }
  return column;
}

/// Returns a column of words, which may come from files.
template <typename Row, typename Text>
TableColumn wordColumn(const char* title, const std::vector<Row>& rows, const Terminal& terminal,
                       Text text) {
  TableColumn column =
      numberColumn(title, rows, [&](const Row& row) { return shown(text(row), terminal); });
  column.align = TableColumn::Align::kLeft;
  return column;
}

}  // namespace steptape::tools
