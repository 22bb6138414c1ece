// SPDX-License-Identifier: Apache-2.0
#include "libtorch/graph/graph_liveness.h"

#include <utility>

namespace steptape::detail::libtorch {

std::vector<bool> ancestors(const GraphDraft& draft, const std::vector<std::size_t>& from) {
  std::vector<bool> found(draft.nodes.size());
  for (const std::size_t node : from) {
    found[node] = true;
  }
  for (std::size_t i = draft.nodes.size(); i-- > 0;) {  // readers come last
    if (found[i]) {
      for (const DraftEdge& edge : draft.nodes[i].inputs) {
        found[edge.node] = true;
      }
    }
  }
  return found;
}

void keepNodes(const std::vector<bool>& kept, GraphDraft* draft) {
  std::vector<std::size_t> numbers(kept.size());
  std::vector<DraftNode> nodes;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    if (kept[i]) {
      numbers[i] = nodes.size();
      nodes.push_back(std::move(draft->nodes[i]));
      for (DraftEdge& edge : nodes.back().inputs) {
        edge.node = numbers[edge.node];
      }
    }
  }
  draft->nodes = std::move(nodes);
}

}  // namespace steptape::detail::libtorch
