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

/// The blanks between two columns.
inline constexpr int kTableGap = 2;

/// The columns of a terminal that `column` takes.
int widthOf(const TableColumn& column);
/// The columns that all of `columns` take, each with the gap between it and the next.
int widthOf(const std::vector<TableColumn>& columns);

/// Leaves out columns, those whose titles come first in `dispensable` first, until all that are
/// left take no more than `width`, each with the gap behind it.
void narrow(std::vector<TableColumn>* columns, const std::vector<std::string>& dispensable,
            int width);

/// The columns as they fit in a line of the terminal behind `indent` spaces: without those that
/// narrow() leaves out, and the first one, which has names, with its cells cut in their middle.
std::vector<TableColumn> fittedColumns(std::vector<TableColumn> columns,
                                       const std::vector<std::string>& dispensable, int indent,
                                       const Terminal& terminal);

/// The table's lines, each after `indent` spaces, none ending in a space; the titles first unless
/// there are none. REQUIRES: as many cells in each column.
std::string tableText(const std::vector<TableColumn>& columns, int indent);

/// fittedColumns() as a table below something else: an empty line in front; nothing without rows.
std::string tableBelow(std::vector<TableColumn> columns,
                       const std::vector<std::string>& dispensable, int indent,
                       const Terminal& terminal);

}  // namespace steptape::tools
