// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <vector>

/// How a program ended.
struct ProcessEnd {
  int exitCode = 0;  ///< 128 + the signal's number if a signal ended it, as in shells.
  bool timedOut = false;
  double seconds = 0;
};

/// Runs a program until it ends, with its standard output and standard error in `outputPath`.
///
/// @param command   The program, which is found by PATH, and its arguments.
/// @param timeLimit After it the program gets SIGTERM, and SIGKILL 10 seconds later.
/// @throws std::system_error if it cannot be started.
ProcessEnd runProcess(const std::vector<std::string>& command, const std::string& outputPath,
                      std::chrono::seconds timeLimit);
