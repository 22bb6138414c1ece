// SPDX-License-Identifier: Apache-2.0
#include "libtorch/graph/graph_script.h"

#include <optional>
#include <string>
#include <utility>

#include "steptape/libtorch/tensor_tree.h"

#include "libtorch/graph/graph_reader.h"

#include <torch/csrc/jit/api/function_impl.h>
#include <torch/csrc/jit/passes/dead_code_elimination.h>
#include <torch/csrc/jit/runtime/interpreter.h>
#include <torch/csrc/jit/runtime/profiling_record.h>

namespace steptape::detail::libtorch {
namespace {

namespace jit = ::torch::jit;
namespace prim = ::c10::prim;

/// Replaces calls of methods and functions in a graph by their bodies. In contrast to LibTorch's
/// inliner, which keeps only the last part of a callee's name, it keeps the full path of each
/// module.
class Inliner {
 public:
  explicit Inliner(const jit::Module& module) : module_(module) {}

  void run(jit::Block* block) {
    for (jit::Node* node = *block->nodes().begin(); node != block->return_node();) {
      node = step(node);
    }
  }

 private:
  /// @return the node to continue with.
  jit::Node* step(jit::Node* node) {
    for (jit::Block* inner : node->blocks()) {
      run(inner);
    }
    if (node->kind() == prim::CallMethod) {
      if (const auto path = pathOf(node->input(0))) {
        return inlined(node, moduleAt(*path).get_method(node->s(c10::attr::name)).graph(),
                       node->inputs(), *path);
      }
    } else if (node->kind() == prim::CallFunction) {
      const auto type = node->input(0)->type()->cast<c10::FunctionType>();
      jit::GraphFunction* function =
          type == nullptr ? nullptr : jit::tryToGraphFunction(*type->function());
      if (function != nullptr) {
        return inlined(node, function->graph(), node->inputs().slice(1), pathAround(node));
      }
    }
    return node->next();
  }

  /// Returns the path of a module value below the root; unset if it does not come from the root.
  static std::optional<std::string> pathOf(jit::Value* value) {
    if (value == value->owningGraph()->inputs()[0]) {
      return "";
    }
    if (value->node()->kind() != prim::GetAttr) {
      return std::nullopt;
    }
    const auto above = pathOf(value->node()->input());
    return above ? std::optional(treePath(*above, value->node()->s(c10::attr::name)))
                 : std::nullopt;
  }

  jit::Module moduleAt(const std::string& path) const {
    jit::Module module = module_;
    for (std::size_t begin = 0; begin < path.size();) {
      const std::size_t end = std::min(path.find('.', begin), path.size());
      module = module.attr(path.substr(begin, end - begin)).toModule();
      begin = end + 1;
    }
    return module;
  }

  /// Returns the module whose method contained `node`.
  static std::string pathAround(jit::Node* node) {
    const jit::ScopePtr scope = node->scope();
    return scope && !scope->isRoot() ? scope->name().toUnqualString() : "";
  }

  jit::Node* inlined(jit::Node* call, const std::shared_ptr<jit::Graph>& callee,
                     at::ArrayRef<jit::Value*> arguments, const std::string& path) {
    jit::Node* const before = call->prev();
    const jit::WithInsertPoint here(call);
    const auto results = jit::insertGraph(*call->owningGraph(), *callee, arguments);
    // An empty scope stands for the root.
    if (!path.empty()) {
      const jit::ScopePtr scope = c10::make_intrusive<jit::Scope>()->push(c10::Symbol::scope(path));
      for (jit::Node* node = before->next(); node != call; node = node->next()) {
        setScope(node, scope);
      }
    }
    for (std::size_t i = 0; i < call->outputs().size(); ++i) {
      call->outputs()[i]->replaceAllUsesWith(results[i]);
    }
    jit::Node* const first = before->next();
    const bool isEmpty = first == call;
    jit::Node* const behind = call->next();
    call->destroy();
    return isEmpty ? behind : first;
  }

  static void setScope(jit::Node* node, const jit::ScopePtr& scope) {
    node->setScope(scope);
    for (jit::Block* block : node->blocks()) {
      for (jit::Node* inner : block->nodes()) {
        setScope(inner, scope);
      }
    }
  }

  const jit::Module& module_;
};

jit::Stack stackOf(const jit::Module& module, const std::vector<c10::IValue>& arguments) {
  jit::Stack stack{module._ivalue()};
  stack.insert(stack.end(), arguments.begin(), arguments.end());
  return stack;
}

}  // namespace

std::shared_ptr<jit::Graph> flatGraph(const jit::Module& module) {
  std::shared_ptr<jit::Graph> graph = module.get_method("forward").graph()->copy();
  Inliner(module).run(graph->block());
  jit::EliminateDeadCode(graph);
  return graph;
}

void runGraph(const std::shared_ptr<jit::Graph>& graph, const jit::Module& module,
              const std::vector<c10::IValue>& arguments) {
  jit::Stack stack = stackOf(module, arguments);
  jit::InterpreterState(jit::Code(graph, "forward")).run(stack);
}

std::shared_ptr<jit::Graph> graphWithShapes(const std::shared_ptr<jit::Graph>& graph,
                                            const jit::Module& module,
                                            const std::vector<c10::IValue>& arguments) {
  const auto record = jit::ProfilingRecord::instrumentGraph(graph);
  record->profiling_count_ = 1;
  runGraph(record->graph(), module, arguments);
  return record->graph();
}

GraphDraft scriptGraph(jit::Graph& graph, const ModelTree& tree,
                       const std::vector<std::string>& argumentNames,
                       const std::vector<c10::IValue>& arguments) {
  GraphReader reader(tree);
  GraphReader::Meaning self;
  self.kind = GraphReader::Meaning::Kind::kObject;
  reader.define(graph.inputs()[0], self);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    reader.define(graph.inputs()[i + 1], reader.addInputs(argumentNames[i], arguments[i]));
  }
  reader.read(*graph.block());
  for (std::size_t i = 0; i < graph.outputs().size(); ++i) {
    reader.addOutput(graph.outputs().size() == 1 ? "" : std::to_string(i), graph.outputs()[i]);
  }
  return reader.take();
}

}  // namespace steptape::detail::libtorch
