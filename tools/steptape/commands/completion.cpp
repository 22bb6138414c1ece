// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "tools/steptape/commands/commands.h"
#include "tools/steptape/exit_code.h"
#include "tools/steptape/help/command_info.h"
#include "tools/steptape/help/completion_script.h"
#include "tools/steptape/help/value_check.h"
#include "tools/steptape/terminal/output_file.h"

namespace steptape::tools {
namespace {

struct CompletionOptions {
  std::string shell;
  std::string output;
};

std::string completionFor(const std::string& shell, const CommandInfo& program) {
  if (shell == "bash") {
    return bashCompletion(program);
  }
  return shell == "zsh" ? zshCompletion(program) : fishCompletion(program);
}

}  // namespace

void addCompletionCommand(CLI::App* app, int* exitCode) {
  CLI::App* command = app->add_subcommand("completion", "Print a completion script for a shell");
  const auto options = std::make_shared<CompletionOptions>();
  command->add_option("SHELL", options->shell, "The shell that runs the script")
      ->required()
      ->check(oneOf({"bash", "fish", "zsh"}));
  command
      ->add_option("--output", options->output, "The file to write; standard output if not given")
      ->type_name("FILE");
  command->footer(
      "An installation includes the scripts, where shells look for them.\n\n"
      "Examples:\n"
      "  source <(steptape completion bash)\n"
      "  steptape completion zsh --output ~/.zfunc/_steptape\n"
      "  steptape completion fish --output ~/.config/fish/completions/steptape.fish");
  command->callback([app, options, exitCode] {
    OutputFile output(options->output);
    output.write(completionFor(options->shell, infoOf(*app)));
    output.finish();
    *exitCode = kExitFine;
  });
}

}  // namespace steptape::tools
