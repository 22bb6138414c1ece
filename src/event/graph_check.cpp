// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string_view>
#include <unordered_set>

#include "steptape/base/error.h"
#include "steptape/event/graph.h"

namespace steptape::event {
namespace {

using Names = std::unordered_set<std::string_view>;

[[noreturn]] void refuse(const std::string& what) {
  throw Error(ErrorCode::kInvalidArgument, "graph: " + what);
}

bool isNumber(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](char digit) { return digit >= '0' && digit <= '9'; });
}

/// The node that `input` names: "name", "name:1" or "^name".
std::string_view producer(std::string_view input) {
  if (!input.empty() && input.front() == '^') {
    return input.substr(1);
  }
  const std::size_t colon = input.rfind(':');
  const bool numbered = colon != std::string_view::npos && isNumber(input.substr(colon + 1));
  return numbered ? input.substr(0, colon) : input;
}

Names namesOfNodes(const Graph& graph) {
  Names names;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const std::string& name = graph.nodes[i].name;
    if (name.empty()) {
      refuse("node " + std::to_string(i) + " (" + graph.nodes[i].op + ") has no name");
    }
    if (!names.insert(name).second) {
      refuse("two nodes are named \"" + name + "\", wanted unique names");
    }
  }
  return names;
}

}  // namespace

void checkGraph(const Graph& graph) {
  const Names names = namesOfNodes(graph);
  for (const GraphNode& node : graph.nodes) {
    for (const std::string& input : node.inputs) {
      if (names.count(producer(input)) == 0) {
        refuse("node \"" + node.name + "\" reads \"" + input + "\", which no node makes");
      }
    }
  }
  for (const GraphNodeStats& stats : graph.stats) {
    if (names.count(stats.name) == 0) {
      refuse("\"" + stats.name + "\" was measured, but no node is named so");
    }
  }
}

}  // namespace steptape::event
