// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "steptape/log/curve_check.h"

#include "process/commands/event_command.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace steptape::tools {

/// Adds the option --on-event COMMAND.
CLI::Option* addEventOption(CLI::App* command, std::string* eventCommand);

/// Returns what calls the command, and prints its problems; null if it is empty.
std::unique_ptr<detail::process::EventCommand> eventCommandOf(const std::string& command);

/// Passes on a finding, unless `command` is null.
void tellFinding(detail::process::EventCommand* command, const std::string& run,
                 const CurveFinding& finding);

}  // namespace steptape::tools
