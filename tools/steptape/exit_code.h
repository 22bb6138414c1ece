// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace steptape::tools {

// The meaning of the tool's exit codes, for every command.
inline constexpr int kExitFine = 0;
inline constexpr int kExitProblem = 1;  // a problem in the files, or the output was not written
inline constexpr int kExitUsage = 2;    // wrong arguments

/// Text for --help, unless the footer of the command has its own paragraph "Exit codes: ".
inline constexpr char kExitCodes[] = "0 success, 1 a problem in the files, 2 wrong arguments.";

}  // namespace steptape::tools
