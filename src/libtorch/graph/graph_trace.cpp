// SPDX-License-Identifier: Apache-2.0
#include "libtorch/graph/graph_trace.h"

#include <stdexcept>
#include <unordered_map>

#include "libtorch/graph/graph_reader.h"
#include "process/spans/zone_listener.h"

#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/ir/ir.h>

// TorchScript is deprecated. Only this file uses its tracer.
#if __has_include(<torch/csrc/jit/frontend/tracer.h>)
#include <torch/csrc/jit/frontend/tracer.h>

namespace steptape::detail::libtorch {
namespace {

namespace jit = ::torch::jit;
namespace tracer = ::torch::jit::tracer;

/// Makes zones the scopes of the nodes that are traced in them.
class ZonesAsScopes final : public process::ZoneListener {
 public:
  void onZoneBegin(const char* name) noexcept override {
    jit::Graph& graph = *tracer::getTracingState()->graph;
    outer_.push_back(graph.current_scope());
    graph.set_current_scope(graph.current_scope()->push(c10::Symbol::scope(name)));
  }
  void onZoneEnd() noexcept override {
    tracer::getTracingState()->graph->set_current_scope(outer_.back());
    outer_.pop_back();
  }

 private:
  std::vector<jit::ScopePtr> outer_;
};

/// Derives the zones of a node from its scopes.
class ZonesOfNodes {
 public:
  std::vector<OpenZone> operator()(jit::Node& node) {
    std::vector<OpenZone> zones;
    for (jit::ScopePtr scope = node.scope(); scope && !scope->isRoot(); scope = scope->parent()) {
      const auto [entry, isNew] = entries_.emplace(scope.get(), entries_.size());
      zones.insert(zones.begin(), {entry->second, scope->name().toUnqualString()});
    }
    return zones;
  }

 private:
  std::unordered_map<const jit::Scope*, std::size_t> entries_;  // each entered zone is one scope
};

std::string pathOf(std::size_t tensor) {
  return "tensor_" + std::to_string(tensor);
}

/// Returns a module without submodules that holds all tensors of a model. The tracer then regards
/// them as its attributes, not as constants.
jit::Module holderOf(const ModelTree& tree) {
  jit::Module holder("Model");
  for (std::size_t i = 0; i < tree.tensors.size(); ++i) {
    holder.register_parameter(pathOf(i), tree.tensors[i].tensor, !tree.tensors[i].isParameter);
  }
  return holder;
}

std::vector<at::Tensor> tensorsOf(const jit::Stack& stack) {
  std::vector<at::Tensor> tensors;
  for (const c10::IValue& value : stack) {
    tensors.push_back(value.toTensor());
  }
  return tensors;
}

/// The tracer's graph, and the names of forward()'s results.
struct TracedCall {
  std::shared_ptr<jit::Graph> graph;
  std::vector<std::string> outputs;
};

TracedCall traced(const EagerModel& model, const ModelTree& tree,
                  const std::vector<at::Tensor>& inputs) {
  TracedCall trace;
  const auto forward = [&](const jit::Stack& stack) {
    // The tracer warns that the graph is valid only for this input, which is true of every graph
    // here.
    const tracer::NoWarn noWarn;
    ZonesAsScopes zones;
    const process::ListenToZones listening(&zones);
    jit::Stack results;
    for (NamedTensor& result : model.forward(tensorsOf(stack))) {
      trace.outputs.push_back(std::move(result.name));
      results.emplace_back(std::move(result.tensor));
    }
    if (results.empty()) {
      throw std::runtime_error("forward() returned nothing that TensorTree knows to hold a tensor");
    }
    return results;
  };
  jit::Module holder = holderOf(tree);
  trace.graph = tracer::trace(
                    jit::Stack(inputs.begin(), inputs.end()), forward,
                    [](const at::Tensor&) { return std::string(); }, /*strict=*/true,
                    /*force_outplace=*/false, &holder)
                    .first->graph;
  return trace;
}

}  // namespace

bool hasTracer() {
  return true;
}

bool isTracing() {
  return tracer::isTracing();
}

GraphDraft tracedGraph(const EagerModel& model, const ModelTree& tree,
                       const std::vector<at::Tensor>& inputs) {
  const TracedCall trace = traced(model, tree, inputs);

  std::unordered_map<std::string, std::size_t> paths;
  for (std::size_t i = 0; i < tree.tensors.size(); ++i) {
    paths[pathOf(i)] = i;
  }
  ZonesOfNodes zonesOf;
  GraphReader reader(tree, paths,
                     [&](jit::Node& source, DraftNode* node) { node->zones = zonesOf(source); });
  GraphReader::Meaning self;
  self.kind = GraphReader::Meaning::Kind::kObject;
  reader.define(trace.graph->inputs()[0], self);
  for (std::size_t i = 0; i < model.inputs.size(); ++i) {
    reader.define(trace.graph->inputs()[i + 1], reader.addInput(model.inputs[i].name, inputs[i]));
  }
  reader.read(*trace.graph->block());
  for (std::size_t i = 0; i < trace.outputs.size(); ++i) {
    reader.addOutput(trace.outputs[i], trace.graph->outputs()[i]);
  }
  return reader.take();
}

}  // namespace steptape::detail::libtorch

#else

namespace steptape::detail::libtorch {

bool hasTracer() {
  return false;
}

bool isTracing() {
  return false;
}

GraphDraft tracedGraph(const EagerModel&, const ModelTree&, const std::vector<at::Tensor>&) {
  throw std::logic_error("this LibTorch has no tracer");
}

}  // namespace steptape::detail::libtorch

#endif
