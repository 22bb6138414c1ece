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
  std::string value;  ///< "FILE", "json|csv"; empty for a flag; of an argument its name.
  std::vector<std::string> choices;  ///< All values there are; empty if there are others.
  bool takesPath = false;            ///< Values are names of files or directories.
  bool isRequired = false;
  bool isRepeated = false;  ///< Takes any number of values.
  std::string defaultValue;
  std::string description;
};

/// A command, or the program itself, as its users see it. What helps them is made of this: --help,
/// man pages and completion can not differ from what is parsed.
struct CommandInfo {
  std::string name;         ///< "steptape" or "steptape inspect".
  std::string description;  ///< One line.
  std::vector<OptionInfo> options;
  std::vector<OptionInfo> arguments;
  std::vector<CommandInfo> commands;
  // Parts of CLI::App's footer, told apart by the blank lines between them and their first words.
  std::vector<std::string> notes;     ///< Paragraphs.
  std::vector<std::string> examples;  ///< Lines after "Examples:".
  std::string exitCodes;              ///< What comes after "Exit codes: ", or what holds for all.

  /// Of "steptape inspect" only "inspect".
  std::string lastName() const;
};

CommandInfo infoOf(const CLI::App& app);

/// Whether a paragraph keeps its line breaks, since there are indented lines in it.
bool isVerbatim(const std::string& paragraph);

/// The command line, such as "steptape inspect [OPTION]... PATH...".
std::string synopsisOf(const CommandInfo& command);

/// How an option is written, such as "-o, --output FILE", or an argument, such as "PATH...".
std::string usageOf(const OptionInfo& option);

}  // namespace steptape::tools
