// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <string>

#include "tools/steptape/help/command_info.h"

namespace steptape::tools {

/// Returns the text of --help: description, usage, arguments, options, commands, notes, examples
/// and exit codes, in lines of at most `columns`.
std::string helpText(const CommandInfo& command, std::size_t columns);

/// Makes CLI11 print helpText(), as wide as the terminal up to a limit.
class HelpFormatter : public CLI::FormatterBase {
 public:
  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override;
};

}  // namespace steptape::tools
