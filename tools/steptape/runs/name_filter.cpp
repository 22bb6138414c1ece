// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/runs/name_filter.h"

#include <CLI/CLI.hpp>

namespace steptape::tools {

NamePattern::NamePattern(const std::string& text)
    : text_(text), regex_(std::regex(text, std::regex::ECMAScript | std::regex::optimize)) {}

bool NamePattern::isFoundIn(std::string_view name) const {
  name = name.substr(0, kSearchedBytes);
  return !regex_ || std::regex_search(name.begin(), name.end(), *regex_);
}

void addPatternOption(CLI::App* command, const std::string& name, NamePattern* pattern,
                      const std::string& description) {
  const auto set = [name, pattern](const std::string& text) {
    try {
      *pattern = NamePattern(text);
    } catch (const std::regex_error& error) {
      throw CLI::ValidationError(
          name, "got \"" + text + "\"; expected a regular expression: " + error.what());
    }
  };
  command->add_option_function<std::string>(name, set, description)->type_name("RE");
}

void addFilterOptions(CLI::App* command, NameFilter* filter) {
  addPatternOption(command, "--run", &filter->run,
                   "Only runs whose directory contains a match of the regular expression");
  addPatternOption(command, "--tag", &filter->tag,
                   "Only tags that contain a match of the regular expression");
}

}  // namespace steptape::tools
