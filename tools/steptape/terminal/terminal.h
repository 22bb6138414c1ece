// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace steptape::tools {

/// The destination of a text stream, and its capabilities.
struct Terminal {
  bool isTerminal = false;  ///< Otherwise a pipe or a file.
  bool hasColor = false;    ///< ANSI colors work, and the user allows them.
  bool hasUtf8 = false;     ///< The locale uses UTF-8; otherwise write ASCII.
  int columns = 80;
  int rows = 24;
};

/// Describes the destination of file descriptor `fd`, such as STDOUT_FILENO.
///
/// The size is that of the terminal, else of the variables COLUMNS and LINES, else 80 x 24. Color
/// needs a terminal other than TERM=dumb, and NO_COLOR unset.
///
/// @source https://no-color.org
Terminal terminalAt(int fd);

}  // namespace steptape::tools
