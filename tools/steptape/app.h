// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

namespace CLI {
class App;
}

namespace steptape::tools {

/// The whole program as CLI11 has it, with every command.
///
/// @param exitCode Gets the exit code of the command that parsing calls. REQUIRES: outlives the
///                 app.
std::unique_ptr<CLI::App> makeApp(int* exitCode);

/// Parses the arguments and runs the command.
/// @return the program's exit code.
int runApp(int argc, const char* const* argv);

/// The whole program: runApp(), and a line to stderr for whatever it throws, memory that is short
/// included.
/// @return the program's exit code.
int runTool(int argc, const char* const* argv) noexcept;

}  // namespace steptape::tools
