// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <exception>

#include "steptape/base/status.h"
#include "steptape/libtorch/module_graph.h"

#include "base/torch_error_text.h"
#include "libtorch/graph/graph_measure.h"
#include "libtorch/graph/graph_record.h"
#include "libtorch/graph/graph_scopes.h"
#include "libtorch/graph/graph_script.h"
#include "libtorch/graph/model_state.h"
#include "libtorch/graph/node_names.h"

#include <ATen/TracerMode.h>

namespace steptape::detail::libtorch {
namespace {

[[noreturn]] void refuse(const Scope& model, const std::string& what) {
  throw Error(ErrorCode::kInvalidArgument, "addGraph: " + model.front() + ": " + what);
}

void requireNotTracing(const Scope& model) {
  if (at::tracer::impl::is_dispatch_enabled()) {
    throw Error(ErrorCode::kFailedPrecondition,
                "addGraph: " + model.front() + ": cannot be called while LibTorch is tracing");
  }
}

event::Graph finished(GraphDraft* draft) {
  inferScopes(draft);
  applyZones(draft);
  return namedGraph(*draft);
}

void describe(event::Graph* graph, const std::string& sentence) {
  if (!sentence.empty()) {
    graph->description.append(graph->description.empty() ? "" : "\n\n").append(sentence);
  }
}

/// Adds the given times, or else those of the second of two passes, because the first pass
/// allocates and loads.
void measure(const GraphDraft& draft, const GraphOptions& options, event::Graph* graph,
             const std::function<void()>& pass) {
  if (!options.operatorTimes.empty()) {
    describe(graph, addStats(draft, options.operatorTimes, graph));
  } else if (options.measure) {
    pass();
    describe(graph, addStats(draft, timedCalls(pass), graph));
  }
}

std::vector<at::Tensor> tensorsOf(const std::vector<NamedTensor>& named) {
  std::vector<at::Tensor> tensors;
  tensors.reserve(named.size());
  for (const NamedTensor& each : named) {
    tensors.push_back(each.tensor);
  }
  return tensors;
}

/// An eager model whose passes have no side effects.
class EagerPasses {
 public:
  EagerPasses(const EagerModel& model, const ModelTree& tree)
      : model_(model), tree_(tree), inputs_(tensorsOf(model.inputs)) {}

  /// Calls `pass` with copies of the inputs.
  template <typename Pass>
  void run(const Pass& pass) const {
    const std::vector<at::Tensor> copies = copiesOf(inputs_);
    runAndRestore(*model_.root, tree_, inputs_, [&] { pass(copies); });
  }

  GraphDraft recorded() const {
    GraphDraft draft;
    try {
      run([&](const auto& inputs) { draft = recordedGraph(model_, tree_, inputs); });
    } catch (const std::exception& error) {
      refuse(tree_.root, "forward() failed: " + base::torchErrorText(error.what()));
    }
    return draft;
  }

 private:
  const EagerModel& model_;
  const ModelTree& tree_;
  const std::vector<at::Tensor> inputs_;
};

/// Returns copies of a script module's arguments.
std::vector<c10::IValue> copiedArguments(const std::vector<c10::IValue>& arguments) {
  std::vector<c10::IValue> copies;
  for (const c10::IValue& argument : arguments) {
    std::vector<NamedTensor> tensors;
    TensorTree<c10::IValue>::collect(argument, "", &tensors);
    const std::vector<at::Tensor> copied = copiesOf(tensorsOf(tensors));
    TensorCursor cursor(copied);
    copies.push_back(TensorTree<c10::IValue>::rebuilt(argument, cursor));
  }
  return copies;
}

/// Returns the names of forward()'s arguments, and extends `arguments` by defaults to the same
/// length.
std::vector<std::string> matchArguments(const torch::jit::Module& module, const ModelTree& tree,
                                        std::vector<c10::IValue>* arguments) {
  if (!module.find_method("forward")) {
    refuse(tree.root, "the module has no method forward()");
  }
  std::vector<std::string> names;
  const c10::FunctionSchema schema = module.get_method("forward").function().getSchema();
  for (const c10::Argument& argument : schema.arguments()) {
    names.push_back(argument.name());
  }
  names.erase(names.begin());  // self
  for (std::size_t i = arguments->size(); i < names.size(); ++i) {
    const auto value = schema.arguments()[i + 1].default_value();
    if (!value) {
      break;
    }
    arguments->push_back(*value);
  }
  if (arguments->size() != names.size()) {
    refuse(tree.root, "got " + std::to_string(arguments->size()) + " arguments; expected " +
                          std::to_string(names.size()) + " for forward()");
  }
  return names;
}

}  // namespace

event::Graph graphOf(const EagerModel& model, const GraphOptions& options) {
  const ModelTree tree = modelTree(*model.root);
  requireNotTracing(tree.root);
  const EagerPasses passes(model, tree);
  GraphDraft draft = passes.recorded();
  event::Graph graph = finished(&draft);
  if (std::none_of(draft.nodes.begin(), draft.nodes.end(),
                   [](const DraftNode& node) { return node.kind == DraftNode::Kind::kOutput; })) {
    describe(&graph,
             "This graph has no outputs and shows every operator of the forward pass, since "
             "forward() returned nothing that TensorTree knows to hold a tensor.");
  }
  measure(draft, options, &graph,
          [&] { passes.run([&](const auto& inputs) { model.forward(inputs); }); });
  return graph;
}

event::Graph graphOf(const torch::jit::Module& module, std::vector<c10::IValue> arguments,
                     const GraphOptions& options) {
  const ModelTree tree = modelTree(module);
  requireNotTracing(tree.root);
  const std::vector<std::string> names = matchArguments(module, tree, &arguments);
  std::vector<NamedTensor> inputs;
  for (const c10::IValue& argument : arguments) {
    TensorTree<c10::IValue>::collect(argument, "", &inputs);
  }
  const auto flat = flatGraph(module);
  const auto run = [&](const std::function<void(const std::vector<c10::IValue>&)>& pass) {
    runAndRestore(tree, tensorsOf(inputs), [&] { pass(copiedArguments(arguments)); });
  };

  GraphDraft draft;
  try {
    run([&](const auto& copies) {
      draft = scriptGraph(*graphWithShapes(flat, module, copies), tree, names, copies);
    });
  } catch (const std::exception& error) {
    refuse(tree.root, "forward() failed: " + base::torchErrorText(error.what()));
  }
  event::Graph graph = finished(&draft);
  measure(draft, options, &graph,
          [&] { run([&](const auto& copies) { runGraph(flat, module, copies); }); });
  return graph;
}

}  // namespace steptape::detail::libtorch
