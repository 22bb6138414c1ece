// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace steptape::tools {

// What the tool's exit codes mean, for every command.
inline constexpr int kExitFine = 0;
inline constexpr int kExitProblem = 1;  // something is wrong with the files
inline constexpr int kExitUsage = 2;    // something is wrong with the call

}  // namespace steptape::tools
