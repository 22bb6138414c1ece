// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <fmt/core.h>
#include <fmt/ranges.h>
#include <memory>
#include <string>
#include <unistd.h>
#include <vector>

#include "tools/steptape/commands/commands.h"
#include "tools/steptape/exit_code.h"
#include "tools/steptape/projects/new_project.h"
#include "tools/steptape/terminal/screen_text.h"
#include "tools/steptape/terminal/terminal.h"

namespace steptape::tools {
namespace {

struct NewArguments {
  std::string folder;
  bool torch = false;
  bool mpi = false;
  bool fortran = false;
  bool c = false;
};

std::string kindOf(const NewArguments& arguments) {
  if (arguments.torch) {
    return "torch";
  }
  if (arguments.mpi) {
    return "mpi";
  }
  if (arguments.fortran) {
    return "fortran";
  }
  return arguments.c ? "c" : "core";
}

/// Returns the folder as a word of a shell.
std::string shellWord(const std::string& folder) {
  const bool isPlain = folder.find_first_not_of(
                           "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWX"
                           "YZ0123456789_-./") == std::string::npos;
  if (isPlain) {
    return folder;
  }
  std::string word = "'";
  for (const char character : folder) {
    word += character == '\'' ? "'\\''" : std::string(1, character);
  }
  return word + "'";
}

int makeProject(const NewArguments& arguments) {
  const std::string kind = kindOf(arguments);
  const std::string name = projectName(arguments.folder);
  const std::vector<std::string> files = writeProject(kind, arguments.folder);
  const Terminal terminal = terminalAt(STDOUT_FILENO);
  fmt::print("{}: {}\n\n", shown(arguments.folder, terminal), fmt::join(files, ", "));
  fmt::print("  cd {}\n", shown(shellWord(arguments.folder), terminal));
  fmt::print("  cmake -B build && cmake --build build\n");
  fmt::print("  {}build/{}\n", kind == "mpi" ? "mpiexec -n 2 " : "", name);
  fmt::print("  steptape plot runs\n");
  return kExitFine;
}

}  // namespace

void addNewCommand(CLI::App* app, int* exitCode) {
  CLI::App* command =
      app->add_subcommand("new", "Write a small project whose program logs a curve");
  const auto arguments = std::make_shared<NewArguments>();
  command
      ->add_option("FOLDER", arguments->folder,
                   "The folder to make; its name becomes that of the program")
      ->required()
      ->check(CLI::Validator(
          [](const std::string& folder) { return projectNameProblem(projectName(folder)); },
          "FOLDER"));
  CLI::Option_group* kind = command->add_option_group("kind");
  kind->add_flag("--torch", arguments->torch, "A network in C++ on LibTorch");
  kind->add_flag("--mpi", arguments->mpi, "A job of MPI in C++");
  kind->add_flag("--fortran", arguments->fortran, "A program in Fortran");
  kind->add_flag("--c", arguments->c, "A program in C");
  kind->require_option(0, 1);
  kind->set_help_flag();  // the command has one
  command->footer(
      "Writes the source of a program, in C++ if no option names another kind, a CMakeLists.txt "
      "and a README.md. CMake finds the Steptape of which this program is a part.\n"
      "\n"
      "Exit codes: 0 written, 1 not written, 2 wrong arguments.\n"
      "\n"
      "Examples:\n"
      "  steptape new demo && cd demo && cmake -B build && cmake --build build && build/demo\n"
      "  steptape new work/heat --mpi");
  command->callback([arguments, exitCode] { *exitCode = makeProject(*arguments); });
}

}  // namespace steptape::tools
