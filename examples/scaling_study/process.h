// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <vector>

/// How a program ended.
struct ProcessEnd {
  int exitCode = 0;  ///< 128 + the signal's number, as shells have it, for one that a signal ended.
  bool timedOut = false;
  double seconds = 0;
};

/// Runs a program to its end, with its standard output and errors in `outputPath`.
///
/// @param command   The program, looked up in PATH, and its arguments.
/// @param timeLimit Then it is told to end, by SIGTERM, and a little later killed.
/// @throws std::system_error if it cannot be started.
ProcessEnd runProcess(const std::vector<std::string>& command, const std::string& outputPath,
                      std::chrono::seconds timeLimit);
