// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tools/steptape/help/completion_script.h"

namespace steptape::tools {
namespace {

// {0}: the program, {1}: commands, options and arguments.
constexpr char kFishScript[] = R"(# Completion of {0} for fish, printed by "{0} completion fish".
function __{0}_command
  for word in (commandline --tokenize --cut-at-cursor --current-process)[2..]
    if not string match --quiet -- '-*' $word
      echo $word
      return 0
    end
  end
  return 1
end
complete --command {0} --no-files
{1})";

std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) {
    result += c == '\'' || c == '\\' ? "\\" : "";
    result += c;
  }
  return result + "'";
}

/// Returns the allowed values.
std::string valueText(const OptionInfo& option) {
  if (!option.choices.empty()) {
    return fmt::format(" --arguments '{}'", fmt::join(option.choices, " "));
  }
  return option.takesPath ? " --force-files" : "";
}

std::string optionLine(const std::string& start, const OptionInfo& option) {
  std::string line = start;
  for (const std::string& name : option.names) {
    line +=
        name.size() == 2 ? " --short-option " + name.substr(1) : " --long-option " + name.substr(2);
  }
  if (!option.value.empty()) {
    line += (option.takesPath ? " --require-parameter" : " --exclusive") + valueText(option);
  }
  return line + " --description " + quoted(option.description) + '\n';
}

}  // namespace

std::string fishCompletion(const CommandInfo& program) {
  const auto when = [&](const std::string& condition) {
    return fmt::format("complete --command {} --condition {}", program.name, quoted(condition));
  };
  const std::string atFirst = when(fmt::format("not __{}_command >/dev/null", program.name));
  std::string lines;
  for (const OptionInfo& option : program.options) {
    lines += optionLine(atFirst, option);
  }
  for (const CommandInfo& command : program.commands) {
    lines += fmt::format("{} --arguments {} --description {}\n", atFirst, command.lastName(),
                         quoted(command.description));
  }
  for (const CommandInfo& command : program.commands) {
    const std::string after =
        when(fmt::format("contains {} (__{}_command)", command.lastName(), program.name));
    for (const OptionInfo& option : command.options) {
      lines += optionLine(after, option);
    }
    if (!command.arguments.empty()) {
      lines += after + valueText(command.arguments.front()) + '\n';
    }
  }
  return fmt::format(kFishScript, program.name, lines);
}

}  // namespace steptape::tools
