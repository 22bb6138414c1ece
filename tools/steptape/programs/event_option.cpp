// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/programs/event_option.h"

#include <CLI/CLI.hpp>
#include <utility>

#include "log/curves/finding_json.h"
#include "tools/steptape/terminal/standard_streams.h"

namespace steptape::tools {

CLI::Option* addEventOption(CLI::App* command, std::string* eventCommand) {
  return command
      ->add_option("--on-event", *eventCommand,
                   "A command of a shell that gets a JSON document on its standard input when "
                   "something happens")
      ->type_name("COMMAND")
      ->check([](const std::string& given) {
        return given.empty() ? "got an empty command; expected one of a shell" : "";
      });
}

std::unique_ptr<detail::process::EventCommand> eventCommandOf(const std::string& command) {
  if (command.empty()) {
    return nullptr;
  }
  detail::process::EventCommand::Options options;
  options.command = command;
  options.onProblem = [](const std::string& problem) { printMessage("note: " + problem); };
  return std::make_unique<detail::process::EventCommand>(std::move(options));
}

void tellFinding(detail::process::EventCommand* command, const std::string& run,
                 const CurveFinding& finding) {
  if (command != nullptr) {
    command->post("finding", finding.tag + ": " + finding.message, run,
                  ", " + detail::log::findingMembers(finding));
  }
}

}  // namespace steptape::tools
