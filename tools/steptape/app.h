// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

namespace CLI {
class App;
}

namespace steptape::tools {

/// Returns the whole program, with every command, as a CLI11 object.
///
/// @param exitCode Receives the exit code of the command that parsing calls. REQUIRES: outlives the
///                 app.
std::unique_ptr<CLI::App> makeApp(int* exitCode);

/// Parses the arguments and runs the command.
/// @return the program's exit code.
int runApp(int argc, const char* const* argv);

/// Runs the whole program: runApp(), and a line on stderr for every exception, including lack of
/// memory.
/// @return the program's exit code.
int runTool(int argc, const char* const* argv) noexcept;

}  // namespace steptape::tools
