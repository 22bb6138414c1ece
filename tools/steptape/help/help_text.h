// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <string>

#include "tools/steptape/help/command_info.h"

namespace steptape::tools {

/// What --help prints: description, usage, arguments, options, commands, notes, examples and exit
/// codes, in lines of at most `columns`.
std::string helpText(const CommandInfo& command, std::size_t columns);

/// Has CLI11 print helpText(), as wide as the terminal, within reason.
class HelpFormatter : public CLI::FormatterBase {
 public:
  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override;
};

}  // namespace steptape::tools
