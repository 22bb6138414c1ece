// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/help/help_text.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include "tools/steptape/terminal/terminal.h"

namespace steptape::tools {
namespace {

constexpr std::size_t kHelpIndent = 2;
// The description of a longer name is on the line after it.
constexpr std::size_t kMostNameColumns = 22;

/// Returns `text` with line breaks between words, so that no line is longer than `columns`. All
/// lines except the first start with `indent` spaces.
std::string wrapped(const std::string& text, std::size_t indent, std::size_t columns) {
  constexpr char kSpaces[] = " \n";
  std::string result;
  std::size_t used = indent;
  // Does not use a stream: without memory, a stream ends early and reports no error.
  for (std::size_t begin = text.find_first_not_of(kSpaces); begin != std::string::npos;) {
    const std::size_t end = std::min(text.find_first_of(kSpaces, begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    begin = text.find_first_not_of(kSpaces, end);
    if (used > indent && used + 1 + word.size() > columns) {
      result += '\n' + std::string(indent, ' ');
      used = indent;
    } else if (used > indent) {
      result += ' ';
      ++used;
    }
    result += word;
    used += word.size();
  }
  return result;
}

std::string describe(const OptionInfo& option) {
  std::string text = option.description;
  text += option.defaultValue.empty() ? "" : fmt::format(" (default: {})", option.defaultValue);
  return text;
}

/// Returns names with their descriptions in a second column, below a title; empty if there are no
/// names.
std::string section(const std::string& title,
                    const std::vector<std::pair<std::string, std::string>>& entries,
                    std::size_t columns) {
  if (entries.empty()) {
    return "";
  }
  std::size_t widest = 0;
  for (const auto& [name, description] : entries) {
    widest = std::max(widest, name.size() <= kMostNameColumns ? name.size() : 0);
  }
  const std::size_t indent = kHelpIndent + widest + kHelpIndent;
  std::string text = fmt::format("\n{}:\n", title);
  for (const auto& [name, description] : entries) {
    const std::string gap = name.size() <= widest
                                ? std::string(indent - kHelpIndent - name.size(), ' ')
                                : '\n' + std::string(indent, ' ');
    text += fmt::format("{:{}}{}{}{}\n", "", kHelpIndent, name, gap,
                        wrapped(description, indent, columns));
  }
  return text;
}

std::vector<std::pair<std::string, std::string>> entriesOf(const std::vector<OptionInfo>& options) {
  std::vector<std::pair<std::string, std::string>> entries;
  entries.reserve(options.size());
  for (const OptionInfo& option : options) {
    entries.emplace_back(usageOf(option), describe(option));
  }
  return entries;
}

}  // namespace

std::string helpText(const CommandInfo& command, std::size_t columns) {
  std::vector<std::pair<std::string, std::string>> commands;
  for (const CommandInfo& each : command.commands) {
    commands.emplace_back(each.lastName(), each.description);
  }
  std::string text = wrapped(command.description + '.', 0, columns) + "\n\n";
  text += wrapped("Usage: " + synopsisOf(command), std::string("Usage: ").size(), columns) + '\n';
  text += section("Commands", commands, columns);
  text += section("Arguments", entriesOf(command.arguments), columns);
  text += section("Options", entriesOf(command.options), columns);
  for (const std::string& note : command.notes) {
    text += '\n' + (isVerbatim(note) ? note : wrapped(note, 0, columns)) + '\n';
  }
  text += fmt::format("\nExamples:\n{}\n", fmt::join(command.examples, "\n"));
  return text + '\n' + wrapped("Exit codes: " + command.exitCodes, 0, columns) + '\n';
}

std::string HelpFormatter::make_help(const CLI::App* app, std::string /*name*/,
                                     CLI::AppFormatMode /*mode*/) const {
  // Longer lines are hard to read.
  constexpr int kMostColumns = 100;
  const int columns = std::min(terminalAt(STDOUT_FILENO).columns, kMostColumns);
  return helpText(infoOf(*app), static_cast<std::size_t>(columns));
}

}  // namespace steptape::tools
