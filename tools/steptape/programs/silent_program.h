// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <sys/types.h>
#include <vector>

namespace steptape::tools {

// Starting other programs without a shell, in a process group of their own.

/// Runs a program with neither input nor error messages.
///
/// @return what it printed on standard output; empty if it cannot be started.
std::string outputOf(const std::vector<std::string>& command);

/// Starts a program with neither input nor output.
///
/// @return its process id, or -1 if it cannot be started.
pid_t startSilently(const std::vector<std::string>& command);

/// Starts a program without input.
///
/// @param output, errors Descriptors of its standard output and of its error messages.
/// @return its process id, or -1 if it cannot be started.
pid_t startWithPipes(const std::vector<std::string>& command, int output, int errors);

}  // namespace steptape::tools
