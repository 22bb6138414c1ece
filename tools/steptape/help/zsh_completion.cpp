// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <string_view>
#include <vector>

#include "tools/steptape/help/completion_script.h"

namespace steptape::tools {
namespace {

// {0}: the program, {1}: its commands, {2}: its options, {3}: options and arguments by command.
constexpr char kZshScript[] = R"(#compdef {0}
# Completion of {0} for zsh, printed by "{0} completion zsh".
_{0}() {{
  local context state state_descr line
  typeset -A opt_args
  local -a commands=(
{1}  )
  _arguments -C \
{2}    '1: :->command' \
    '*:: :->arguments'
  case $state in
    command) _describe command commands ;;
    arguments)
      case $words[1] in
{3}      esac
      ;;
  esac
}}
if [[ $funcstack[1] == _{0} ]]; then
  _{0} "$@"
else
  compdef _{0} {0}
fi
)";

/// Returns `text` in single quotes, with a backslash before each of `special`.
std::string quoted(const std::string& text, std::string_view special) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'') {
      result += "'\\''";
    } else {
      result += special.find(c) == std::string_view::npos ? "" : "\\";
      result += c;
    }
  }
  return result + "'";
}

/// Returns ":FILE:_files", ":json|csv:(json csv)" or, for any text, ":RE:".
std::string valueSpec(const OptionInfo& option) {
  const std::string action = !option.choices.empty()
                                 ? fmt::format("({})", fmt::join(option.choices, " "))
                             : option.takesPath ? "_files"
                                                : "";
  return fmt::format(":{}:{}", option.value, action);
}

std::vector<std::string> optionSpecs(const OptionInfo& option) {
  std::vector<std::string> specs;
  // One form of the name excludes the others.
  const std::string others =
      option.names.size() > 1 ? fmt::format("'({})'", fmt::join(option.names, " ")) : "";
  const std::string description = quoted('[' + option.description + ']', "\\:");
  for (const std::string& name : option.names) {
    const std::string equals = !option.value.empty() && name.size() > 2 ? "=" : "";
    const std::string value = option.value.empty() ? "" : quoted(valueSpec(option), "");
    specs.push_back(others + name + equals + description + value);
  }
  return specs;
}

std::string argumentSpec(const OptionInfo& argument) {
  const std::string count = argument.isRepeated ? "*" : argument.isRequired ? "1" : "1:";
  return quoted(count + valueSpec(argument), "");
}

/// Returns the specs of options, one per line, each continued.
std::string optionLines(const CommandInfo& command, int indent) {
  std::string lines;
  for (const OptionInfo& option : command.options) {
    for (const std::string& spec : optionSpecs(option)) {
      lines += fmt::format("{:{}}{} \\\n", "", indent, spec);
    }
  }
  return lines;
}

}  // namespace

std::string zshCompletion(const CommandInfo& program) {
  std::string names;
  std::string cases;
  for (const CommandInfo& command : program.commands) {
    const std::string name = command.lastName();
    names += fmt::format("    {}\n", quoted(name + ':' + command.description, "\\"));
    std::vector<std::string> arguments;
    for (const OptionInfo& argument : command.arguments) {
      arguments.push_back("            " + argumentSpec(argument));
    }
    cases += fmt::format("        {})\n          _arguments \\\n{}{}\n          ;;\n", name,
                         optionLines(command, 12), fmt::join(arguments, " \\\n"));
  }
  return fmt::format(kZshScript, program.name, names, optionLines(program, 4), cases);
}

}  // namespace steptape::tools
