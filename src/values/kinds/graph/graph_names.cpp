// SPDX-License-Identifier: Apache-2.0
#include "values/kinds/graph/graph_names.h"

#include <algorithm>

#include "base/text.h"
#include "base/utf8.h"

namespace steptape::detail::values {

std::string nodeNameOf(std::string_view text) {
  std::string name;
  for (const char c : base::replaceInvalidUtf8(text)) {
    const bool atStart = name.empty() || name.back() == '/';
    if (c == '/') {
      if (!atStart) {
        name += '/';
      }
    } else if (c == ':' || (c == '^' && name.empty())) {
      if (atStart || name.back() != '_') {
        name += '_';
      }
    } else {
      name += c;
    }
  }
  if (!name.empty() && name.back() == '/') {
    name.pop_back();
  }
  return name;
}

std::string joinScopes(std::string_view scope, std::string_view leaf) {
  std::string joined(scope);
  if (!scope.empty() && !leaf.empty()) {
    joined += '/';
  }
  return joined.append(leaf);
}

std::string_view scopeOf(std::string_view name) {
  const std::size_t slash = name.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : name.substr(0, slash);
}

std::string_view commonScope(std::string_view left, std::string_view right) {
  const auto isWithin = [](std::string_view name, std::string_view scope) {
    return scope.empty() || (base::startsWith(name, scope) &&
                             (name.size() == scope.size() || name[scope.size()] == '/'));
  };
  while (!isWithin(right, left)) {
    left = scopeOf(left);
  }
  return left;
}

std::string NodeNames::claim(const std::string& name) {
  return taken_.insert(name).second ? name : claimFrom(name, 1);
}

std::string NodeNames::claimNumbered(const std::string& name) {
  return claimFrom(name, 0);
}

std::string NodeNames::claimFrom(const std::string& name, std::size_t first) {
  std::size_t& number = next_[name];
  number = std::max(number, first);
  while (true) {
    std::string numbered = name + "_" + std::to_string(number++);
    if (taken_.insert(numbered).second) {
      return numbered;
    }
  }
}

}  // namespace steptape::detail::values
