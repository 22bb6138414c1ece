// SPDX-License-Identifier: Apache-2.0
#include "libtorch/graph/graph_scopes.h"

#include <algorithm>
#include <cctype>
#include <unordered_map>

#include "base/text.h"

namespace steptape::detail::libtorch {
namespace {

using Kind = DraftNode::Kind;
using MaybeScope = std::optional<Scope>;

MaybeScope joined(const MaybeScope& a, const MaybeScope& b) {
  if (!a || !b) {
    return a ? a : b;
  }
  return commonScope(*a, *b);
}

/// Returns which nodes do not depend on the model's inputs.
std::vector<bool> independentOfInput(const GraphDraft& draft) {
  std::vector<bool> independent(draft.nodes.size());
  for (std::size_t i = 0; i < draft.nodes.size(); ++i) {
    const DraftNode& node = draft.nodes[i];
    independent[i] = node.kind != Kind::kInput &&
                     std::all_of(node.inputs.begin(), node.inputs.end(),
                                 [&](const DraftEdge& edge) { return independent[edge.node]; });
  }
  return independent;
}

/// Gives each operator without a scope the scope of the parameters that it reads, directly or
/// computed from parameters alone.
void takeScopesOfParameters(GraphDraft* draft) {
  const std::vector<bool> independent = independentOfInput(*draft);
  for (DraftNode& node : draft->nodes) {
    if (node.kind != Kind::kOperator || node.scope) {
      continue;
    }
    for (const DraftEdge& edge : node.inputs) {
      if (independent[edge.node]) {
        node.scope = joined(node.scope, draft->nodes[edge.node].scope);
      }
    }
  }
}

/// Returns for each operator without a scope the deepest scope that its neighbors share.
std::vector<MaybeScope> scopesSharedByNeighbors(const GraphDraft& draft) {
  const std::vector<DraftNode>& nodes = draft.nodes;
  // Producers come first, so a forward pass finds the scopes of producers; a backward pass finds
  // those of readers.
  std::vector<MaybeScope> before(nodes.size());
  std::vector<MaybeScope> behind(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    before[i] = nodes[i].kind == Kind::kInput ? draft.root : nodes[i].scope;
    if (!before[i]) {
      for (const DraftEdge& edge : nodes[i].inputs) {
        before[i] = joined(before[i], before[edge.node]);
      }
    }
  }
  for (std::size_t i = nodes.size(); i-- > 0;) {
    if (nodes[i].kind == Kind::kOutput) {
      behind[i] = draft.root;
    } else if (nodes[i].scope) {
      behind[i] = nodes[i].scope;
    }
    for (const DraftEdge& edge : nodes[i].inputs) {
      behind[edge.node] = joined(behind[edge.node], behind[i]);
    }
  }
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    before[i] = joined(before[i], behind[i]);
  }
  return before;
}

/// The common scope of the operators with parameters in each zone.
class ScopesOfZones {
 public:
  explicit ScopesOfZones(const GraphDraft& draft) {
    for (const DraftNode& node : draft.nodes) {
      for (const OpenZone& zone : node.zones) {
        MaybeScope& scope = scopes_[zone.entry];
        scope = joined(scope, node.scope);
      }
    }
  }

  /// Returns `scope`, or that of an enclosing zone if `scope` is outside of it: an operator in a
  /// zone belongs to the zone, not to its later readers.
  Scope within(const DraftNode& node, Scope scope) const {
    for (const OpenZone& zone : node.zones) {
      const MaybeScope& around = scopes_.at(zone.entry);
      if (around && commonScope(*around, scope).size() < around->size()) {
        scope = *around;
      }
    }
    return scope;
  }

 private:
  std::unordered_map<std::size_t, MaybeScope> scopes_;
};

}  // namespace

Scope commonScope(const Scope& a, const Scope& b) {
  const auto differs = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  return Scope(a.begin(), differs.first);
}

std::string scopeLevel(std::string_view name, std::string_view type) {
  std::string level(name);
  return level.append("[").append(type).append("]");
}

std::string shortTypeName(std::string_view type) {
  std::string name;
  for (std::size_t i = 0; i < type.size(); ++i) {
    if (type.substr(i, 2) != "::") {
      name.push_back(type[i]);
      continue;
    }
    ++i;
    // "(anonymous namespace)", or the parameters of the function that contains a local class.
    if (!name.empty() && name.back() == ')') {
      name.erase(std::min(name.rfind('('), name.size()));
    }
    while (!name.empty() &&
           (std::isalnum(static_cast<unsigned char>(name.back())) != 0 || name.back() == '_')) {
      name.pop_back();
    }
  }
  constexpr std::string_view kImpl = "Impl";
  if (name.size() > kImpl.size() && base::endsWith(name, kImpl)) {
    name.erase(name.size() - kImpl.size());
  }
  // A '/' would end a level of a scope, and ':' would look like the number of an output.
  std::replace(name.begin(), name.end(), '/', '|');
  std::replace(name.begin(), name.end(), ':', '.');
  return name;
}

void inferScopes(GraphDraft* draft) {
  takeScopesOfParameters(draft);
  const ScopesOfZones zones(*draft);
  const std::vector<MaybeScope> shared = scopesSharedByNeighbors(*draft);
  for (std::size_t i = 0; i < draft->nodes.size(); ++i) {
    DraftNode& node = draft->nodes[i];
    if (node.kind == Kind::kOperator && !node.scope) {
      node.scope = zones.within(node, shared[i].value_or(draft->root));
    }
  }
}

}  // namespace steptape::detail::libtorch
