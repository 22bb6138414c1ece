// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <regex>
#include <string>
#include <string_view>

namespace CLI {
class App;
}

namespace steptape::tools {

/// The standard library's search uses stack space for each character, and a tag in a damaged file
/// could be long enough to exhaust it: no more than these first bytes of a name are searched.
inline constexpr std::size_t kSearchedBytes = 4096;

/// An ECMAScript regular expression that is searched in the names of runs or tags.
class NamePattern {
 public:
  /// Matches every name.
  NamePattern() = default;
  /// @throws std::regex_error if `text` is not a regular expression.
  explicit NamePattern(const std::string& text);

  bool isFoundIn(std::string_view name) const;
  /// As the user wrote it.
  const std::string& text() const { return text_; }

 private:
  std::string text_;
  std::optional<std::regex> regex_;
};

/// Selects runs and tags.
struct NameFilter {
  NamePattern run;
  NamePattern tag;
};

/// Adds the options --run RE and --tag RE to `command`.
void addFilterOptions(CLI::App* command, NameFilter* filter);
/// Adds one such option, for commands that describe it differently.
void addPatternOption(CLI::App* command, const std::string& name, NamePattern* pattern,
                      const std::string& description);

}  // namespace steptape::tools
