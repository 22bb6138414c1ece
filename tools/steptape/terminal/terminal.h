// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace steptape::tools {

/// What a stream of text goes to, and what may be written there.
struct Terminal {
  bool isTerminal = false;  ///< Somebody watches; else a pipe or a file.
  bool hasColor = false;    ///< Takes ANSI's colors, and the user has not refused them.
  bool hasUtf8 = false;     ///< The locale's characters are UTF-8; else write ASCII.
  int columns = 80;
  int rows = 24;
};

/// Describes what file descriptor `fd`, such as STDOUT_FILENO, goes to.
///
/// The size is the terminal's own; where there is none, that of the variables COLUMNS and LINES,
/// else 80 x 24. Color takes a terminal other than TERM=dumb, and no variable NO_COLOR.
///
/// @source https://no-color.org
Terminal terminalAt(int fd);

}  // namespace steptape::tools
