// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace steptape::detail::values {

/// Converts `text` to a node name below a scope: removes empty components, and replaces ":" and
/// "^", which have a meaning in an edge, by '_'. The result may be empty.
std::string nodeNameOf(std::string_view text);

/// Returns "scope/leaf", or the nonempty one of both.
std::string joinScopes(std::string_view scope, std::string_view leaf);

/// Returns the part before the last '/'; empty if there is none.
std::string_view scopeOf(std::string_view name);

/// Returns the deepest scope that contains both.
std::string_view commonScope(std::string_view left, std::string_view right);

/// Makes names of nodes unique.
class NodeNames {
 public:
  /// Returns `name`, with the first free number as a suffix if it is taken.
  std::string claim(const std::string& name);
  /// "name_0", "name_1", ...: the first that is free.
  std::string claimNumbered(const std::string& name);

 private:
  std::string claimFrom(const std::string& name, std::size_t first);

  std::unordered_set<std::string> taken_;
  // The first number to try for each name, so that claiming many equal names takes linear time.
  std::unordered_map<std::string, std::size_t> next_;
};

}  // namespace steptape::detail::values
