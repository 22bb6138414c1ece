// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/help/man_page.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <vector>

#include "steptape/base/version.h"

namespace steptape::tools {
namespace {

/// Escapes `text` so that roff shows it unchanged: hyphens that can be copied, no escapes, no
/// requests.
std::string literal(const std::string& text) {
  std::string result;
  bool beginsLine = true;
  for (const char c : text) {
    if (beginsLine && (c == '.' || c == '\'')) {
      result += "\\&";
    }
    beginsLine = c == '\n';
    if (c == '\\') {
      result += "\\e";
    } else {
      result += c == '-' ? "\\-" : std::string(1, c);
    }
  }
  return result;
}

std::string bold(const std::string& text) {
  return "\\fB" + literal(text) + "\\fR";
}

std::string italic(const std::string& text) {
  return "\\fI" + literal(text) + "\\fR";
}

std::string verbatim(const std::string& text) {
  return ".EX\n" + literal(text) + "\n.EE\n";
}

std::string titleLine(const CommandInfo& command) {
  std::string title = manPageName(command);
  std::transform(title.begin(), title.end(), title.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  // No date: the same program always makes the same page. No hyphenation: it would also split names
  // of commands.
  return fmt::format(".TH \"{}\" 1 \"\" \"steptape {}\" \"Steptape\"\n.nh\n.ad l\n", literal(title),
                     STEPTAPE_VERSION);
}

/// "\fB\-o\fR, \fB\-\-output\fR \fIFILE\fR"
std::string optionTerm(const OptionInfo& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.names) {
    names.push_back(name.front() == '-' ? bold(name) : italic(name));
  }
  std::string term = fmt::format("{}", fmt::join(names, ", "));
  if (option.names.front().front() == '-' && !option.value.empty()) {
    term += ' ' + (option.choices.empty() ? italic(option.value) : literal(option.value));
  }
  return term + (option.isRepeated ? " ..." : "");
}

std::string optionSection(const char* title, const std::vector<OptionInfo>& options) {
  if (options.empty()) {
    return "";
  }
  std::string text = fmt::format(".SH {}\n", title);
  for (const OptionInfo& option : options) {
    text += fmt::format(".TP\n{}\n{}.", optionTerm(option), literal(option.description));
    text += option.defaultValue.empty()
                ? ""
                : fmt::format("\nDefault: {}.", literal(option.defaultValue));
    text += '\n';
  }
  return text;
}

std::string commandSection(const std::vector<CommandInfo>& commands) {
  if (commands.empty()) {
    return "";
  }
  std::string text = ".SH COMMANDS\n";
  for (const CommandInfo& command : commands) {
    text += fmt::format(".TP\n{}\n{}.\n", bold(command.lastName()), literal(command.description));
  }
  return text;
}

std::string descriptionSection(const CommandInfo& command) {
  std::string text = fmt::format(".SH DESCRIPTION\n{}.\n", literal(command.description));
  for (const std::string& note : command.notes) {
    text += ".PP\n" + (isVerbatim(note) ? verbatim(note) : literal(note) + '\n');
  }
  return text;
}

std::string seeAlsoSection(const CommandInfo& command, const CommandInfo& program) {
  std::vector<std::string> pages;
  if (command.name != program.name) {
    pages.push_back(bold(manPageName(program)) + "(1)");
  }
  for (const CommandInfo& other : program.commands) {
    if (other.name != command.name) {
      pages.push_back(bold(manPageName(other)) + "(1)");
    }
  }
  return fmt::format(".SH SEE ALSO\n{}\n", fmt::join(pages, ",\n"));
}

}  // namespace

std::string manPageName(const CommandInfo& command) {
  std::string name = command.name;
  std::replace(name.begin(), name.end(), ' ', '-');
  return name;
}

std::string manPage(const CommandInfo& command, const CommandInfo& program) {
  const std::string arguments = synopsisOf(command).substr(command.name.size());
  return titleLine(command) +
         fmt::format(".SH NAME\n{} \\- {}\n", literal(manPageName(command)),
                     literal(command.description)) +
         fmt::format(".SH SYNOPSIS\n{}{}\n", bold(command.name), literal(arguments)) +
         descriptionSection(command) + commandSection(command.commands) +
         optionSection("ARGUMENTS", command.arguments) + optionSection("OPTIONS", command.options) +
         ".SH EXAMPLES\n" + verbatim(fmt::format("{}", fmt::join(command.examples, "\n"))) +
         ".SH EXIT STATUS\n" + literal(command.exitCodes) + '\n' + seeAlsoSection(command, program);
}

}  // namespace steptape::tools
