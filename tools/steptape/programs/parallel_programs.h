// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace steptape::tools {

/// How a program has ended.
struct ProgramEnd {
  int exitCode = -1;    ///< 128 + N for signal N; -1: it could not be started, or took too long.
  std::string output;   ///< What it printed on standard output.
  std::string problem;  ///< Its last line of error messages, or why there is none; may be empty.
};

/// Runs programs without a shell and without input, several at once.
///
/// @param limit After this time each that still runs is killed, with its process group.
/// @return how they ended, in the order of `commands`.
std::vector<ProgramEnd> runAll(const std::vector<std::vector<std::string>>& commands,
                               std::chrono::milliseconds limit);

}  // namespace steptape::tools
