// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string_view>
#include <unordered_set>

#include "steptape/events/graph.h"

#include "base/got_expected.h"

namespace steptape::event {
namespace {

using Names = std::unordered_set<std::string_view>;

[[noreturn]] void refuse(const std::string& got, const std::string& expected) {
  detail::base::reject(got, expected, "graph");
}

bool isNumber(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](char digit) { return digit >= '0' && digit <= '9'; });
}

/// Returns the name of the node to which `input` refers: "name", "name:1" or "^name".
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
      refuse("node " + std::to_string(i) + " (" + graph.nodes[i].op + ") without a name", "a name");
    }
    if (!names.insert(name).second) {
      refuse("two nodes named " + detail::base::quoted(name), "unique names");
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
        refuse(
            "input " + detail::base::quoted(input) + " of node " + detail::base::quoted(node.name),
            "the name of a node");
      }
    }
  }
  for (const GraphNodeStats& stats : graph.stats) {
    if (names.count(stats.name) == 0) {
      refuse("a measurement of " + detail::base::quoted(stats.name), "the name of a node");
    }
  }
}

}  // namespace steptape::event
