// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <set>

#include "libtorch/graph/graph_scopes.h"

namespace steptape {
namespace {

using Kind = detail::libtorch::DraftNode::Kind;
using Names = std::vector<std::string>;
/// Returns the scope that contains each zone, by the zone's entry: the scope that all its operators
/// share.
std::map<std::size_t, detail::libtorch::Scope> scopesAroundZones(
    const detail::libtorch::GraphDraft& draft) {
  std::map<std::size_t, detail::libtorch::Scope> scopes;
  for (const detail::libtorch::DraftNode& node : draft.nodes) {
    for (const detail::libtorch::OpenZone& zone : node.zones) {
      const auto [known, isNew] = scopes.try_emplace(zone.entry, *node.scope);
      if (!isNew) {
        known->second = detail::libtorch::commonScope(known->second, *node.scope);
      }
    }
  }
  return scopes;
}

/// The assignment of a draft's zones to scopes.
class ZonePlan {
 public:
  explicit ZonePlan(const detail::libtorch::GraphDraft& draft) : around_(scopesAroundZones(draft)) {
    for (const detail::libtorch::DraftNode& node : draft.nodes) {
      if (node.kind == Kind::kOperator) {
        collect(node);
      }
    }
  }

  /// Returns the scope of `node` with its zones.
  detail::libtorch::Scope scopeOf(const detail::libtorch::DraftNode& node) const {
    const detail::libtorch::Scope& scope = *node.scope;
    detail::libtorch::Scope result;
    for (std::size_t depth = 0; depth < scope.size(); ++depth) {
      const detail::libtorch::Scope module(scope.begin(),
                                           scope.begin() + static_cast<std::ptrdiff_t>(depth) + 1);
      const auto zones = zonesOfModule_.find(module);
      if (zones != zonesOfModule_.end() && zones->second.size() == 1) {
        append(*zones->second.begin(), &result);
      }
      result.push_back(scope[depth]);
    }
    append(zonesIn(scope, node), &result);
    return result;
  }

 private:
  static void append(const Names& names, detail::libtorch::Scope* scope) {
    scope->insert(scope->end(), names.begin(), names.end());
  }

  /// Returns the zones around `node` that are directly in `scope`.
  Names zonesIn(const detail::libtorch::Scope& scope,
                const detail::libtorch::DraftNode& node) const {
    Names names;
    for (const detail::libtorch::OpenZone& zone : node.zones) {
      if (around_.at(zone.entry) == scope) {
        names.push_back(zone.name);
      }
    }
    return names;
  }

  /// Records the zones in which each module above `node` was seen.
  void collect(const detail::libtorch::DraftNode& node) {
    detail::libtorch::Scope above;
    for (const std::string& level : *node.scope) {
      detail::libtorch::Scope module = above;
      module.push_back(level);
      zonesOfModule_[module].insert(zonesIn(above, node));
      above = std::move(module);
    }
  }

  const std::map<std::size_t, detail::libtorch::Scope> around_;
  /// The zones between a module and its parent; several if it was used both in and outside of them.
  std::map<detail::libtorch::Scope, std::set<Names>> zonesOfModule_;
};

}  // namespace

void detail::libtorch::applyZones(detail::libtorch::GraphDraft* draft) {
  const ZonePlan plan(*draft);
  for (detail::libtorch::DraftNode& node : draft->nodes) {
    if (node.kind == Kind::kOperator || node.kind == Kind::kParameter) {
      node.scope = plan.scopeOf(node);
    }
  }
}

}  // namespace steptape
