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
  std::vector<std::string> names;  ///< "-h", "--help"; of an argument "PATH".
  std::string value;  ///< "FILE", "json|csv"; empty for a flag; the name of an argument.
  std::vector<std::string> choices;  ///< All allowed values; empty if any text is.
  bool takesPath = false;            ///< Values are names of files or directories.
  bool isRequired = false;
  bool isRepeated = false;  ///< Takes any number of values.
  std::string defaultValue;
  std::string description;
};

/// A command, or the program itself, as its users see it. --help, man pages and completion come
/// from this, so they cannot differ from what is parsed.
struct CommandInfo {
  std::string name;         ///< "steptape" or "steptape inspect".
  std::string description;  ///< One line.
  std::vector<OptionInfo> options;
  std::vector<OptionInfo> arguments;
  std::vector<CommandInfo> commands;
  // Parts of the footer of CLI::App, which blank lines separate and first words identify.
  std::vector<std::string> notes;     ///< Paragraphs.
  std::vector<std::string> examples;  ///< Lines after "Examples:".
  std::string exitCodes;              ///< The text after "Exit codes: ", or kExitCodes.

  /// Of "steptape inspect" only "inspect".
  std::string lastName() const;
};

CommandInfo infoOf(const CLI::App& app);

/// Whether a paragraph keeps its line breaks, because it has indented lines.
bool isVerbatim(const std::string& paragraph);

/// The command line, such as "steptape inspect [OPTION]... PATH...".
std::string synopsisOf(const CommandInfo& command);

/// How an option is written, such as "-o, --output FILE", or an argument, such as "PATH...".
std::string usageOf(const OptionInfo& option);

}  // namespace steptape::tools
