// SPDX-License-Identifier: Apache-2.0
#include "libtorch/graph/node_names.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <unordered_set>

namespace steptape::detail::libtorch {
namespace {

using Kind = DraftNode::Kind;

/// Changes `name` so that it neither opens a scope nor looks like the number of an output.
std::string safeLevel(std::string name) {
  for (char& character : name) {
    if (character == '/' || character == ':') {
      character = '.';
    }
  }
  return name.empty() ? "_" : name;
}

std::string path(const Scope& scope) {
  std::string joined;
  for (const std::string& level : scope) {
    joined.append(safeLevel(level)).push_back('/');
  }
  return joined;
}

std::string scopePath(const DraftNode& node) {
  switch (node.kind) {
    case Kind::kInput:
      return "input/";
    case Kind::kOutput:
      return "output/";
    default:
      return path(node.scope.value());
  }
}

bool isDigit(char character) {
  return std::isdigit(static_cast<unsigned char>(character)) != 0;
}

/// Returns `leaf` without its digits, and without the letter of "2d".
std::string withoutDigits(const std::string& leaf) {
  std::string plain;
  for (std::size_t i = 0; i < leaf.size(); ++i) {
    const bool ofDimensions = i > 0 && leaf[i] == 'd' && isDigit(leaf[i - 1]);
    if (!isDigit(leaf[i]) && !ofDimensions) {
      plain.push_back(leaf[i]);
    }
  }
  return plain;
}

class Namer {
 public:
  explicit Namer(const GraphDraft& draft) {
    for (const DraftNode& node : draft.nodes) {
      const std::string scope = scopePath(node);
      for (std::size_t slash = 0; (slash = scope.find('/', slash)) != std::string::npos; ++slash) {
        taken_.insert(scope.substr(0, slash));
      }
      ++siblings_[{scope, node.op}].count;
    }
    // Nodes with final names come before those whose names can change.
    for (const DraftNode& node : draft.nodes) {
      names_.push_back(node.kind == Kind::kOperator ? "" : unique(scopePath(node), node.leaf));
    }
    for (std::size_t i = 0; i < names_.size(); ++i) {
      if (names_[i].empty()) {
        names_[i] = nameOfOperator(draft.nodes[i]);
      }
    }
  }

  const std::string& operator[](std::size_t node) const { return names_[node]; }

 private:
  struct Siblings {
    std::size_t count = 0;
    std::size_t numbered = 0;
  };

  std::string nameOfOperator(const DraftNode& node) {
    const std::string scope = scopePath(node);
    Siblings& siblings = siblings_.at({scope, node.op});
    if (siblings.count == 1) {
      return unique(scope, node.leaf);
    }
    const std::string start = scope + safeLevel(withoutDigits(node.leaf)) + "_";
    std::string name;
    do {
      name = start + std::to_string(++siblings.numbered);
    } while (!taken_.insert(name).second);
    return name;
  }

  std::string unique(const std::string& scope, const std::string& leaf) {
    const std::string wanted = scope + safeLevel(leaf);
    std::string name = wanted;
    for (int number = 1; !taken_.insert(name).second; ++number) {
      name = wanted + "_" + std::to_string(number);
    }
    return name;
  }

  std::unordered_set<std::string> taken_;                             // scope names included
  std::map<std::pair<std::string, std::string>, Siblings> siblings_;  // by scope and op
  std::vector<std::string> names_;
};

}  // namespace

event::Graph namedGraph(const GraphDraft& draft) {
  const Namer names(draft);
  event::Graph graph;
  for (std::size_t i = 0; i < draft.nodes.size(); ++i) {
    const DraftNode& node = draft.nodes[i];
    event::GraphNode& named = graph.nodes.emplace_back();
    named.name = names[i];
    named.op = node.op;
    named.device = node.device;
    named.outputShapes = node.outputShapes;
    named.outputType = node.outputType;
    named.attributes = node.attributes;
    for (const DraftEdge& edge : node.inputs) {
      const std::string& producer = names[edge.node];
      named.inputs.push_back(edge.output == 0 ? producer
                                              : producer + ":" + std::to_string(edge.output));
    }
  }
  return graph;
}

}  // namespace steptape::detail::libtorch
