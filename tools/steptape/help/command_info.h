// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace steptape::tools {

/// One option or argument of a command.
struct OptionInfo {
  std::vector<std::string> names;  ///< "-h", "--help"; for an argument "PATH".
  std::string value;  ///< "FILE", "json|csv"; empty for a flag; the name of an argument.
  std::vector<std::string> choices;  ///< All allowed values; empty if any text is.
  bool takesPath = false;            ///< Values are names of files or directories.
  bool isRequired = false;
  bool isRepeated = false;  ///< Takes any number of values.
  std::string defaultValue;
  std::string description;
  bool isAfterDashes = false;  ///< Everything after "--".
};

/// A command, or the program itself, as users see it. --help, man pages and completion are made
/// from this object, so they agree with what is parsed.
struct CommandInfo {
  std::string name;         ///< "steptape" or "steptape inspect".
  std::string description;  ///< One line.
  std::vector<OptionInfo> options;
  std::vector<OptionInfo> arguments;
  std::vector<CommandInfo> commands;
  // Parts of the footer of CLI::App: blank lines separate them, and their first words identify
  // them.
  std::vector<std::string> notes;     ///< Paragraphs.
  std::vector<std::string> examples;  ///< Lines after "Examples:".
  std::string exitCodes;              ///< The text after "Exit codes: ", or kExitCodes.

  /// Returns "inspect" for "steptape inspect".
  std::string lastName() const;
};

CommandInfo infoOf(const CLI::App& app);

/// Returns whether a paragraph keeps its line breaks, because it has indented lines.
bool isVerbatim(const std::string& paragraph);

/// Returns the command line, such as "steptape inspect [OPTION]... PATH...".
std::string synopsisOf(const CommandInfo& command);

/// Returns the form of an option, such as "-o, --output FILE", or of an argument, such as
/// "PATH...".
std::string usageOf(const OptionInfo& option);

}  // namespace steptape::tools
