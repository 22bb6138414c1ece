// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tools/steptape/terminal/terminal.h"

namespace steptape::tools {

/// One column of a table for people, as wide as its longest cell.
struct TableColumn {
  enum class Align { kLeft, kRight };

  std::string title;
  Align align = Align::kRight;          ///< Numbers to the right, words to the left.
  std::vector<std::string> cells = {};  ///< REQUIRES: printable; see screen_text.h.
};

/// Spaces between two columns.
inline constexpr int kTableGap = 2;

/// Returns the terminal columns that `column` takes.
int widthOf(const TableColumn& column);
/// Returns the terminal columns that all of `columns` take, each with the gap after it.
int widthOf(const std::vector<TableColumn>& columns);

/// Removes columns in the order of their titles in `dispensable`, until the remaining ones take at
/// most `width`, each with the gap after it.
void narrow(std::vector<TableColumn>* columns, const std::vector<std::string>& dispensable,
            int width);

/// Returns the columns that fit in a line of the terminal after `indent` spaces: without those that
/// narrow() removes, and with the cells of the first column, the names, shortened in the middle.
std::vector<TableColumn> fittedColumns(std::vector<TableColumn> columns,
                                       const std::vector<std::string>& dispensable, int indent,
                                       const Terminal& terminal);

/// Returns the lines of the table, each after `indent` spaces and without trailing spaces; titles,
/// if any, first. REQUIRES: all columns have the same number of cells.
std::string tableText(const std::vector<TableColumn>& columns, int indent);

/// Returns fittedColumns() as a table after an empty line; empty if there are no rows.
std::string tableBelow(std::vector<TableColumn> columns,
                       const std::vector<std::string>& dispensable, int indent,
                       const Terminal& terminal);

}  // namespace steptape::tools
