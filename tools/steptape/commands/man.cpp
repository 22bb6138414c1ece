// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <fmt/core.h>
#include <memory>
#include <string>
#include <vector>

#include "tools/steptape/commands/commands.h"
#include "tools/steptape/exit_code.h"
#include "tools/steptape/help/command_info.h"
#include "tools/steptape/help/man_page.h"
#include "tools/steptape/help/value_check.h"
#include "tools/steptape/runs/path_check.h"
#include "tools/steptape/terminal/output_file.h"

namespace steptape::tools {
namespace {

struct ManOptions {
  std::string command;
  std::string outputDirectory;
};

void writePages(const ManOptions& options, const CommandInfo& program) {
  std::vector<CommandInfo> commands{program};
  commands.insert(commands.end(), program.commands.begin(), program.commands.end());
  const std::string name = program.name + (options.command.empty() ? "" : " ") + options.command;
  for (const CommandInfo& command : commands) {
    if (options.outputDirectory.empty() && command.name != name) {
      continue;
    }
    OutputFile output(options.outputDirectory.empty()
                          ? ""
                          : fmt::format("{}/{}.1", options.outputDirectory, manPageName(command)));
    output.write(manPage(command, program));
    output.finish();
  }
}

}  // namespace

void addManCommand(CLI::App* app, int* exitCode) {
  std::vector<std::string> names;
  for (const CLI::App* command : app->get_subcommands({})) {
    names.push_back(command->get_name());
  }
  CLI::App* command = app->add_subcommand("man", "Print a man page");
  names.push_back(command->get_name());
  const auto options = std::make_shared<ManOptions>();
  command
      ->add_option("COMMAND", options->command, "The command to describe; the program if not given")
      ->check(oneOf(names));
  CLI::Option* const output = command->add_option("--output", options->outputDirectory,
                                                  "Write all pages into this directory");
  output->type_name("DIR");
  expectDirectory(output);
  command->footer(
      "The pages are in roff, for man(1). An installation includes them: \"man steptape-inspect\" "
      "shows one.\n\n"
      "Examples:\n"
      "  steptape man inspect | man -l -\n"
      "  steptape man --output ~/.local/share/man/man1");
  command->callback([app, options, exitCode] {
    writePages(*options, infoOf(*app));
    *exitCode = kExitFine;
  });
}

}  // namespace steptape::tools
