// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace steptape::tools {

// What the tool's exit codes mean, for every command.
inline constexpr int kExitFine = 0;
inline constexpr int kExitProblem = 1;  // something is wrong with the files
inline constexpr int kExitUsage = 2;    // something is wrong with the call

/// As users are told, unless a command's footer has a paragraph "Exit codes: " of its own.
inline constexpr char kExitCodes[] = "0 fine, 1 found a problem in the files, 2 used wrongly.";

}  // namespace steptape::tools
