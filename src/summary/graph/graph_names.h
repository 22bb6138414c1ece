// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace steptape::detail {

/// `text` as the name of a node below some scope: without empty components, and with '_' for what
/// an edge gives a meaning to, ":" and "^". May be empty.
std::string nodeNameOf(std::string_view text);

/// "scope/leaf", or the one that is not empty.
std::string joinScopes(std::string_view scope, std::string_view leaf);

/// What stands before the last '/', empty if there is none.
std::string_view scopeOf(std::string_view name);

/// The deepest scope that both are in.
std::string_view commonScope(std::string_view left, std::string_view right);

/// Names of nodes, each given out once.
class NodeNames {
 public:
  /// Returns `name`, with the first free number as a suffix if it is taken.
  std::string claim(const std::string& name);
  /// "name_0", "name_1", ...: the first that is free.
  std::string claimNumbered(const std::string& name);

 private:
  std::string claimFrom(const std::string& name, std::size_t first);

  std::unordered_set<std::string> taken_;
  // The first number to try, so that many nodes of one name do not try them all.
  std::unordered_map<std::string, std::size_t> next_;
};

}  // namespace steptape::detail
