// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <regex>
#include <string>
#include <string_view>

namespace CLI {
class App;
}

namespace steptape::tools {

/// A regular expression, ECMAScript's, that is looked for in the names of runs or tags.
class NamePattern {
 public:
  /// Is found in every name.
  NamePattern() = default;
  /// @throws std::regex_error if `text` is no regular expression.
  explicit NamePattern(const std::string& text);

  bool isFoundIn(std::string_view name) const;
  /// As the user wrote it.
  const std::string& text() const { return text_; }

 private:
  std::string text_;
  std::optional<std::regex> regex_;
};

/// Which runs and tags a command is asked for.
struct NameFilter {
  NamePattern run;
  NamePattern tag;
};

/// Adds the options --run RE and --tag RE to `command`.
void addFilterOptions(CLI::App* command, NameFilter* filter);
/// Adds one such option, for commands that have something to say about it.
void addPatternOption(CLI::App* command, const std::string& name, NamePattern* pattern,
                      const std::string& description);

}  // namespace steptape::tools
