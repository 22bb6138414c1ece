// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <vector>

#include "tools/steptape/help/completion_script.h"

namespace steptape::tools {
namespace {

// {0}: the program, {1}: values of options, {2}: options, {3}: arguments.
constexpr char kBashScript[] = R"(# Completion of {0} for bash, printed by "{0} completion bash".
_{0}() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD - 1]}}
  local command= words= files= i
  # bash splits --option=value into three words.
  if [[ $word == = ]]; then
    word=
  elif [[ $previous == = ]]; then
    previous=${{COMP_WORDS[COMP_CWORD - 2]}}
  fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    if [[ ${{COMP_WORDS[i]}} != -* ]]; then
      command=${{COMP_WORDS[i]}}
      break
    fi
  done
  case "$command $previous" in
{1}    *)
      if [[ $word == -* ]]; then
        case $command in
{2}        esac
      else
        case $command in
{3}        esac
      fi
      ;;
  esac
  if [[ $files ]]; then
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -f -- "$word")
  else
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
  fi
}}
complete -F _{0} {0}
)";

/// Returns the completion of the value of `option`; empty if any text is allowed.
std::string valueAction(const OptionInfo& option) {
  if (!option.choices.empty()) {
    return fmt::format("words='{}'", fmt::join(option.choices, " "));
  }
  return option.takesPath ? "files=yes" : "";
}

/// Returns a line of a case statement: the action for `pattern`.
std::string caseLine(int indent, const std::string& pattern, const std::string& action) {
  return fmt::format("{:{}}{}) {}{};;\n", "", indent, pattern, action, action.empty() ? "" : " ");
}

std::string optionWords(const CommandInfo& command) {
  std::vector<std::string> words;
  for (const OptionInfo& option : command.options) {
    words.insert(words.end(), option.names.begin(), option.names.end());
  }
  return fmt::format("words='{}'", fmt::join(words, " "));
}

std::string valueLines(const CommandInfo& command) {
  std::string lines;
  for (const OptionInfo& option : command.options) {
    if (option.value.empty()) {
      continue;
    }
    std::vector<std::string> patterns;
    for (const std::string& name : option.names) {
      patterns.push_back(fmt::format("'{} {}'", command.lastName(), name));
    }
    lines += caseLine(4, fmt::format("{}", fmt::join(patterns, " | ")), valueAction(option));
  }
  return lines;
}

}  // namespace

std::string bashCompletion(const CommandInfo& program) {
  std::vector<std::string> names;
  std::string values;
  std::string options = caseLine(10, "''", optionWords(program));
  std::string arguments;
  for (const CommandInfo& command : program.commands) {
    const std::string name = command.lastName();
    names.push_back(name);
    values += valueLines(command);
    options += caseLine(10, name, optionWords(command));
    if (!command.arguments.empty()) {
      arguments += caseLine(10, name, valueAction(command.arguments.front()));
    }
  }
  arguments = caseLine(10, "''", fmt::format("words='{}'", fmt::join(names, " "))) + arguments;
  return fmt::format(kBashScript, program.name, values, options, arguments);
}

}  // namespace steptape::tools
