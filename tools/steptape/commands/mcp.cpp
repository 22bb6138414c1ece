// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <array>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <unistd.h>

#include "steptape/base/status.h"

#include "tools/steptape/commands/commands.h"
#include "tools/steptape/programs/python_program.h"

namespace steptape::tools {
namespace {

// Without the folder that `python3 -c` puts first: a steptape.py of the user is not the package.
constexpr char kStartServer[] = R"python(
import sys
sys.path[:] = [folder for folder in sys.path if folder]
try:
    from steptape.__main__ import serve_assistants
except ImportError as error:
    sys.exit(f"steptape mcp: got {sys.executable} without the package steptape of this version ({error}); "
             "expected a Python that has it: install the wheel in it, or name another one by STEPTAPE_PYTHON")
serve_assistants(sys.argv[1:])
)python";

/// Becomes the server.
[[noreturn]] void becomeMcpServer(const std::string& root) {
  std::error_code error;
  const std::string tool = std::filesystem::read_symlink("/proc/self/exe", error).string();
  std::array<std::string, 7> command{pythonToUse(), "-c",     kStartServer, "--root",
                                     root,          "--tool", tool};
  std::array<char*, command.size() + 1> words{};
  for (std::size_t i = 0; i < command.size(); ++i) {
    words[i] = command[i].data();
  }
  ::execvp(words[0], words.data());
  throw Error(ErrorCode::kIoError,
              "mcp: cannot start " + command[0] + ": " + std::generic_category().message(errno) +
                  "; expected a Python with the packages steptape and mcp: install them, or name "
                  "one by STEPTAPE_PYTHON");
}

}  // namespace

void addMcpCommand(CLI::App* app, int* /*exitCode*/) {
  CLI::App* command = app->add_subcommand(
      "mcp", "Answer an assistant's questions about runs, by the Model Context Protocol");
  const auto root = std::make_shared<std::string>(".");
  command
      ->add_option("--root", *root,
                   "The directory with the runs; paths that lead out of it are refused")
      ->type_name("DIR")
      ->capture_default_str();
  command->footer(
      "An assistant starts this program, and speaks to it on standard input and output. It gets "
      "the tools inspect, runs, export, diff, profile, autopsy and check_values, which answer as "
      "the commands do. They only read, and an answer is cut off at 40,000 bytes.\n"
      "\n"
      "Needs a Python with the packages steptape and mcp: the one that STEPTAPE_PYTHON names, the "
      "python3 beside this program, or the first one on PATH.\n"
      "\n"
      "Exit codes: 0 the assistant has ended the session, 1 not started, 2 wrong arguments.\n"
      "\n"
      "Examples:\n"
      "  steptape mcp --root runs\n"
      "  steptape mcp --root /data/runs");
  command->callback([root] { becomeMcpServer(*root); });
}

}  // namespace steptape::tools
