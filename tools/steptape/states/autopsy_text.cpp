// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/states/autopsy_text.h"

#include <fmt/format.h>

#include "tools/steptape/states/autopsy_report.h"
#include "tools/steptape/terminal/screen_text.h"

namespace steptape::tools {

std::string autopsyText(const Job& job, const Verdict& verdict, const Terminal& terminal) {
  std::string text;
  for (const std::string& line : autopsyHeadline(job, verdict)) {
    text += fmt::format("{}{}{}\n", terminal.hasColor ? "\033[1m" : "", shown(line, terminal),
                        terminal.hasColor ? "\033[0m" : "");
  }
  text += '\n' + shown(autopsyTitle(job), terminal) + '\n';
  for (const AutopsySection& section : autopsySections(job, verdict)) {
    text += '\n' + shown(section.title, terminal) + ":\n";
    for (const std::string& line : section.lines) {
      text += "  " + shown(line, terminal) + '\n';
    }
  }
  return text;
}

std::string autopsyMarkdown(const Job& job, const Verdict& verdict) {
  std::string text = "# " + printable(autopsyTitle(job), true) + "\n";
  for (const std::string& line : autopsyHeadline(job, verdict)) {
    text += "\n" + printable(line, true) + "\n";
  }
  for (const AutopsySection& section : autopsySections(job, verdict)) {
    text += "\n## " + printable(section.title, true) + "\n\n" + (section.isCode ? "```\n" : "");
    for (const std::string& line : section.lines) {
      text += (section.isCode ? "" : "- ") + printable(line, true) + "\n";
    }
    text += section.isCode ? "```\n" : "";
  }
  return text;
}

}  // namespace steptape::tools
