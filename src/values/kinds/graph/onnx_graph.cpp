// SPDX-License-Identifier: Apache-2.0
#include "values/kinds/graph/onnx_graph.h"

#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/got_expected.h"
#include "base/text.h"
#include "values/kinds/graph/graph_names.h"

namespace steptape::detail::values {
namespace {

/// An element of GraphNode::inputs: the node that makes a value.
using Edge = std::string;

std::string opOf(const events::OnnxNode& node) {
  const bool isOnnx = node.domain.empty() || node.domain == "ai.onnx";
  return isOnnx ? node.opType : node.domain + "::" + node.opType;
}

/// Sets the element type of the first output.
void setType(const events::OnnxValue& value, event::GraphNode* node) {
  node->outputType = value.type;
  if (!value.otherType.empty()) {
    node->attributes.emplace_back("dtype", value.otherType);
  }
}

event::GraphNode valueNode(std::string name, const char* op, const events::OnnxValue& value) {
  event::GraphNode node;
  node.name = std::move(name);
  node.op = op;
  node.outputShapes = {value.shape};
  setType(value, &node);
  return node;
}

/// Returns the part of an initializer's name that its scope does not contain: "weight" for
/// "layer1.0.conv.weight" in the scope "layer1/layer1.0/conv".
std::string_view leafIn(std::string_view scope, std::string_view name) {
  const std::size_t dot = name.rfind('.');
  if (scope.empty() || dot == std::string_view::npos || dot + 1 == name.size()) {
    return name;
  }
  const std::string_view module = name.substr(0, dot);
  const std::string_view last = scope.substr(scope.rfind('/') + 1);
  const bool repeats =
      module == last || (module.size() > last.size() && base::endsWith(module, last) &&
                         module[module.size() - last.size() - 1] == '.');
  return repeats ? name.substr(dot + 1) : name;
}

/// One of the model's graphs, with its values by name.
struct Scope {
  const Scope* outer;
  std::string prefix;  // prefix of its nodes' names
  std::unordered_map<std::string_view, Edge> makers;
  std::unordered_map<std::string_view, const events::OnnxValue*> infos;
};

class Builder {
 public:
  explicit Builder(const events::OnnxModel& model) : model_(model) {}

  event::Graph build() {
    Scope scope{nullptr, "", {}, {}};
    addNodes(model_.graph, {}, &scope);
    for (const events::OnnxValue& output : model_.graph.outputs) {
      event::GraphNode node =
          valueNode(names_.claim(nameBelow("output", output.name)), "Output", output);
      node.inputs = {maker(scope, output.name, "the output \"" + output.name + "\"")};
      graph_.nodes.push_back(std::move(node));
    }
    graph_.description = description();
    return std::move(graph_);
  }

 private:
  /// @param feeds The nodes that make the graph's inputs, if they are known.
  void addNodes(const events::OnnxGraph& graph, const std::vector<Edge>& feeds, Scope* scope) {
    for (const auto* values :
         {&graph.inputs, &graph.outputs, &graph.initializers, &graph.valueInfos}) {
      for (const events::OnnxValue& value : *values) {
        scope->infos.emplace(value.name, &value);
      }
    }
    const std::vector<std::string> names = nameNodes(graph, *scope);
    addInitializers(graph, names, scope);
    addInputs(graph, feeds, scope);
    // Nodes may come before the nodes whose outputs they read.
    for (std::size_t i = 0; i < names.size(); ++i) {
      noteOutputs(graph.nodes[i], names[i], scope);
    }
    for (std::size_t i = 0; i < names.size(); ++i) {
      addNode(graph.nodes[i], names[i], *scope);
    }
  }

  std::vector<std::string> nameNodes(const events::OnnxGraph& graph, const Scope& scope) {
    std::vector<std::string> names;
    for (const events::OnnxNode& node : graph.nodes) {
      const std::string name = nodeNameOf(node.name);
      names.push_back(name.empty() ? name : names_.claim(joinScopes(scope.prefix, name)));
    }
    // Names of the file have precedence over generated names.
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (names[i].empty()) {
        names[i] = names_.claimNumbered(nameBelow(scope.prefix, graph.nodes[i].opType));
      }
    }
    return names;
  }

  void addInitializers(const events::OnnxGraph& graph, const std::vector<std::string>& names,
                       Scope* scope) {
    std::unordered_map<std::string_view, std::string_view> scopes;  // of the values read
    for (std::size_t i = 0; i < names.size(); ++i) {
      for (const std::string& input : graph.nodes[i].inputs) {
        const auto [found, isNew] = scopes.emplace(input, scopeOf(names[i]));
        if (!isNew) {
          found->second = commonScope(found->second, scopeOf(names[i]));
        }
      }
    }
    for (const events::OnnxValue& value : graph.initializers) {
      const auto found = scopes.find(value.name);
      const std::string_view where = found == scopes.end() ? scope->prefix : found->second;
      const std::string name = names_.claim(nameBelow(where, leafIn(where, value.name)));
      if (scope->makers.emplace(value.name, name).second) {
        graph_.nodes.push_back(valueNode(name, "Initializer", value));
      }
    }
  }

  void addInputs(const events::OnnxGraph& graph, const std::vector<Edge>& feeds, Scope* scope) {
    for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
      const events::OnnxValue& input = graph.inputs[i];
      if (scope->makers.count(input.name) != 0) {
        continue;  // An initializer may also be listed as an input: it is the default.
      }
      event::GraphNode node = valueNode(
          names_.claim(nameBelow(joinScopes(scope->prefix, "input"), input.name)), "Input", input);
      if (i < feeds.size() && !feeds[i].empty()) {
        node.inputs = {feeds[i]};
      }
      scope->makers.emplace(input.name, node.name);
      graph_.nodes.push_back(std::move(node));
    }
  }

  static void noteOutputs(const events::OnnxNode& node, const std::string& name, Scope* scope) {
    for (std::size_t k = 0; k < node.outputs.size(); ++k) {
      if (!node.outputs[k].empty()) {
        scope->makers.emplace(node.outputs[k], k == 0 ? name : name + ":" + std::to_string(k));
      }
    }
  }

  void addNode(const events::OnnxNode& node, const std::string& name, const Scope& scope) {
    event::GraphNode shown;
    shown.name = name;
    shown.op = opOf(node);
    std::vector<Edge> feeds;  // by position, for subgraphs
    for (const std::string& input : node.inputs) {
      feeds.push_back(input.empty() ? Edge() : maker(scope, input, "the node \"" + name + "\""));
      if (!input.empty()) {
        shown.inputs.push_back(feeds.back());
      }
    }
    describeOutputs(node, scope, &shown);
    for (const events::OnnxAttribute& attribute : node.attributes) {
      if (attribute.graphs.empty()) {
        shown.attributes.emplace_back(attribute.name, attribute.value);
      }
      for (const events::OnnxGraph& graph : attribute.graphs) {
        addSubgraph(graph, joinScopes(name, nodeNameOf(attribute.name)), feeds, scope, &shown);
      }
    }
    graph_.nodes.push_back(std::move(shown));
  }

  static void describeOutputs(const events::OnnxNode& node, const Scope& scope,
                              event::GraphNode* shown) {
    bool anyShape = false;
    for (std::size_t k = 0; k < node.outputs.size(); ++k) {
      const auto found = scope.infos.find(node.outputs[k]);
      const events::OnnxValue* info = found == scope.infos.end() ? nullptr : found->second;
      shown->outputShapes.push_back(info == nullptr ? std::nullopt : info->shape);
      anyShape = anyShape || shown->outputShapes.back().has_value();
      if (k == 0 && info != nullptr) {
        setType(*info, shown);
      }
    }
    if (!anyShape) {
      shown->outputShapes.clear();
    }
  }

  void addSubgraph(const events::OnnxGraph& graph, std::string prefix,
                   const std::vector<Edge>& feeds, const Scope& outer, event::GraphNode* owner) {
    Scope scope{&outer, std::move(prefix), {}, {}};
    addNodes(graph, feeds, &scope);
    for (const events::OnnxValue& output : graph.outputs) {
      owner->inputs.push_back(maker(scope, output.name, "the node \"" + owner->name + "\""));
    }
  }

  /// Returns "scope/text", or a placeholder if `text` is empty.
  static std::string nameBelow(std::string_view scope, std::string_view text) {
    const std::string name = nodeNameOf(text);
    return joinScopes(scope, name.empty() ? "unnamed" : name);
  }

  const Edge& maker(const Scope& inner, const std::string& value, const std::string& reader) const {
    for (const Scope* scope = &inner; scope != nullptr; scope = scope->outer) {
      const auto found = scope->makers.find(value);
      if (found != scope->makers.end()) {
        return found->second;
      }
    }
    base::reject(reader + " that reads " + base::quoted(value),
                 "a value that a node, an input or an initializer provides",
                 "addOnnxGraph \"" + model_.source + "\"");
  }

  std::string description() const {
    std::string text = "Read from an ONNX model";
    if (!model_.producerName.empty()) {
      text += " made by " + model_.producerName + " " + model_.producerVersion;
    }
    text += ": IR version " + std::to_string(model_.irVersion);
    for (const auto& [domain, version] : model_.opsets) {
      text +=
          ", operators of " + (domain.empty() ? "ai.onnx" : domain) + " " + std::to_string(version);
    }
    return text + ".";
  }

  const events::OnnxModel& model_;
  NodeNames names_;
  event::Graph graph_;
};

}  // namespace

event::Graph onnxGraph(const events::OnnxModel& model) {
  return Builder(model).build();
}

}  // namespace steptape::detail::values
