// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/help/command_info.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "tools/steptape/exit_code.h"

namespace steptape::tools {
namespace {

using detail::base::contains;
using detail::base::startsWith;

constexpr char kExamples[] = "Examples:\n";
constexpr char kExitCodesLabel[] = "Exit codes: ";

std::vector<std::string> split(const std::string& text, const std::string& separator) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (;;) {
    const std::size_t end = text.find(separator, begin);
    parts.push_back(text.substr(begin, end - begin));
    if (end == std::string::npos) {
      return parts;
    }
    begin = end + separator.size();
  }
}

/// Returns the values that oneOf() allows, which are "{json,csv}" in the name of the type.
std::vector<std::string> choicesIn(const std::string& type) {
  const std::size_t begin = type.find('{');
  const std::size_t end = type.find('}');
  if (begin == std::string::npos || end == std::string::npos) {
    return {};
  }
  return split(type.substr(begin + 1, end - begin - 1), ",");
}

/// Returns the default. CLI11 writes a list as "[25,50]", which no option accepts.
std::string defaultOf(const CLI::Option& option) {
  const std::string text = option.get_default_str();
  return startsWith(text, "[") ? text.substr(1, text.size() - 2) : text;
}

OptionInfo infoOf(const CLI::Option& option) {
  OptionInfo info;
  for (const std::string& name : option.get_snames()) {
    info.names.push_back("-" + name);
  }
  for (const std::string& name : option.get_lnames()) {
    info.names.push_back("--" + name);
  }
  const bool isFlag = option.get_items_expected_max() == 0;
  // Such as "RE", "TEXT:{json,csv}" or "TEXT:PATH(existing)".
  const std::string type = isFlag ? "" : option.get_type_name();
  info.choices = choicesIn(type);
  info.takesPath = contains(type, "PATH") || contains(type, "FILE") || contains(type, "DIR");
  info.value = info.choices.empty() ? type.substr(0, type.find(':'))
                                    : fmt::format("{}", fmt::join(info.choices, "|"));
  if (option.get_positional()) {
    info.names = {option.get_name(true)};
    info.value = info.names.front();
  }
  info.isRequired = option.get_required();
  info.isRepeated = !isFlag && option.get_expected_max() >= CLI::detail::expected_max_vector_size;
  info.defaultValue = defaultOf(option);
  info.description = option.get_description();
  return info;
}

/// Sorts the paragraphs of a footer.
void takeFooter(const std::string& footer, CommandInfo* info) {
  for (const std::string& paragraph : split(footer, "\n\n")) {
    if (startsWith(paragraph, kExamples)) {
      info->examples = split(paragraph.substr(sizeof kExamples - 1), "\n");
    } else if (startsWith(paragraph, kExitCodesLabel)) {
      info->exitCodes = paragraph.substr(sizeof kExitCodesLabel - 1);
    } else if (!paragraph.empty()) {
      info->notes.push_back(paragraph);
    }
  }
}

/// Returns whether it is a group of options, which CLI11 represents as a command without a name.
bool isOptionGroup(const CLI::App& command) {
  return command.get_name().empty();
}

void takeOptions(const CLI::App& app, CommandInfo* info) {
  for (const CLI::Option* option : app.get_options()) {
    (option->get_positional() ? info->arguments : info->options).push_back(infoOf(*option));
  }
  if (app.get_positionals_at_end() && !info->arguments.empty()) {
    info->arguments.front().isAfterDashes = true;
  }
}

}  // namespace

std::string CommandInfo::lastName() const {
  return name.substr(name.rfind(' ') + 1);
}

CommandInfo infoOf(const CLI::App& app) {
  CommandInfo info;
  info.name = app.get_parent() == nullptr ? app.get_name()
                                          : app.get_parent()->get_name() + " " + app.get_name();
  info.description = app.get_description();
  info.exitCodes = kExitCodes;
  takeFooter(app.get_footer(), &info);
  takeOptions(app, &info);
  for (const CLI::App* command : app.get_subcommands({})) {
    if (isOptionGroup(*command)) {
      takeOptions(*command, &info);
    } else {
      info.commands.push_back(infoOf(*command));
    }
  }
  return info;
}

bool isVerbatim(const std::string& paragraph) {
  return contains(paragraph, "\n  ");
}

std::string synopsisOf(const CommandInfo& command) {
  std::string text = command.name + " [OPTION]...";
  for (const OptionInfo& option : command.options) {
    text += option.isRequired ? " " + usageOf(option) : "";
  }
  for (const OptionInfo& argument : command.arguments) {
    text += argument.isAfterDashes ? " --" : "";
    text += argument.isRequired ? " " + usageOf(argument) : " [" + usageOf(argument) + "]";
  }
  return text + (command.commands.empty() ? "" : " COMMAND ...");
}

std::string usageOf(const OptionInfo& option) {
  return fmt::format("{}{}{}{}", fmt::join(option.names, ", "),
                     startsWith(option.names.front(), "-") && !option.value.empty() ? " " : "",
                     startsWith(option.names.front(), "-") ? option.value : "",
                     option.isRepeated ? "..." : "");
}

}  // namespace steptape::tools
