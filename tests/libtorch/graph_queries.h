// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "steptape/libtorch/module_graph.h"

namespace steptape {

inline GraphOptions unmeasured() {
  GraphOptions options;
  options.measure = false;
  return options;
}

/// Returns the graph that addGraph() would write, after the same checks.
template <typename Model, typename Input>
event::Graph graphOf(Model& model, const Input& input, const GraphOptions& options = unmeasured()) {
  event::Graph graph = GraphTraits<std::decay_t<Model>>::graph(model, input, options);
  event::checkGraph(graph);
  return graph;
}

/// Returns the names of the nodes of one kind, in the graph's order.
inline std::vector<std::string> namesOf(const event::Graph& graph, const std::string& op) {
  std::vector<std::string> names;
  for (const event::GraphNode& node : graph.nodes) {
    if (node.op == op) {
      names.push_back(node.name);
    }
  }
  return names;
}

/// Returns the node with this name, which must exist.
inline const event::GraphNode& nodeOf(const event::Graph& graph, std::string_view name) {
  const auto node = std::find_if(graph.nodes.begin(), graph.nodes.end(),
                                 [&](const event::GraphNode& each) { return each.name == name; });
  if (node == graph.nodes.end()) {
    std::string names;
    for (const event::GraphNode& each : graph.nodes) {
      names += "\n  " + each.name + " (" + each.op + ")";
    }
    throw std::runtime_error("no node is named " + std::string(name) + "; there are" + names);
  }
  return *node;
}

}  // namespace steptape
