// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/events/graph.h"
#include "steptape/libtorch/tensor_tree.h"
#include "steptape/values/graph_traits.h"

// Declared, not included: `<torch/nn/module.h>` takes ten seconds to compile, and a program that
// has a model includes it anyway.
namespace torch {
namespace detail {
struct ModuleHolderIndicator;
}
namespace jit {
struct Module;
}
namespace nn {
class AnyModule;
class Module;
}  // namespace nn
}  // namespace torch

// Lets addGraph() take models of LibTorch.
//
//   writer.addGraph(net, torch::ones({1, 3, 32, 32}));           // by value, or a shared_ptr
//   writer.addGraph(net, std::make_tuple(image, mask));          // net.forward(image, mask)
//   writer.addGraph(torch::jit::load("net.pt"), torch::ones({1, 3, 32, 32}));
//
// The operators that an eager module calls are recorded. forward() runs once, in the module's
// current mode (train() or eval()), on copies of the input, and twice more for measurement.
// Afterwards the previous state is restored: buffers such as the running statistics of BatchNorm,
// gradients, train() flags, grad mode, and the random generators of the devices of model and input.
// Other effects of forward() remain: in-place assignments to parameters, generators and counters of
// its own.
//
// Scopes are the module tree, each level "name[Type]". An operator belongs to the module whose
// parameters it reads. An operator without parameters belongs to the deepest scope that its
// neighbors share. A STEPTAPE_ZONE in forward() is a scope of its name inside the deepest scope
// that all its operators share. Operators that repeat in a scope, as in a loop, are numbered, and
// TensorBoard folds five or more into a series.
//
// Constants that are numbers, strings or lists of them are attributes of the operator that reads
// them. Only shape and type of constant tensors are kept.
//
// The result of an operator is known by its elements. A write through a view, such as
// cache[0].copy_(x), therefore has edges to later readers of the whole tensor, an operator that
// returns nothing has edges to readers of the tensor that it wrote, and x.data() is x. A
// torch::autograd::Function that computes without operators is a node, with edges from its inputs
// that require gradients. Casts that autocast inserts are not shown, and neither are operators
// whose results affect no output and no buffer. If forward() returns no tensor that TensorTree
// finds, all operators are shown, and Graph::description says so.

namespace steptape {
namespace detail::libtorch {

/// An eager model and its input, without their C++ types.
struct EagerModel {
  torch::nn::Module* root = nullptr;
  std::vector<NamedTensor> inputs;
  /// Calls forward() with these tensors in place of the inputs' tensors.
  std::function<std::vector<NamedTensor>(const std::vector<at::Tensor>& inputs)> forward;
};

STEPTAPE_EXPORT event::Graph graphOf(const EagerModel& model, const GraphOptions& options);
STEPTAPE_EXPORT event::Graph graphOf(const torch::jit::Module& module,
                                     std::vector<c10::IValue> arguments,
                                     const GraphOptions& options);

template <typename Model, typename... Arguments>
using ForwardResult = decltype(std::declval<Model&>().forward(std::declval<Arguments>()...));

template <typename AlwaysVoid, typename Model, typename... Arguments>
struct IsCallable : std::false_type {};
template <typename Model, typename... Arguments>
struct IsCallable<std::void_t<ForwardResult<Model, Arguments...>>, Model, Arguments...>
    : std::true_type {};

/// Returns the arguments of forward(): the elements of a tuple if it takes them, else `input`
/// itself.
template <typename Model, typename Input>
auto argumentsFor(const Input& input) {
  return std::tuple<Input>(input);
}
template <typename Model, typename... Elements>
auto argumentsFor(const std::tuple<Elements...>& input) {
  if constexpr (IsCallable<void, Model, std::decay_t<Elements>...>::value) {
    return std::tuple<std::decay_t<Elements>...>(input);
  } else {
    return std::tuple<std::tuple<Elements...>>(input);
  }
}

/// Names the tensors of the arguments: a single argument keeps the names of its own entries.
template <typename Arguments>
std::vector<NamedTensor> namedInputs(const Arguments& arguments) {
  std::vector<NamedTensor> inputs;
  if constexpr (std::tuple_size_v<Arguments> == 1) {
    using Only = std::tuple_element_t<0, Arguments>;
    TensorTree<Only>::collect(std::get<0>(arguments), "", &inputs);
  } else {
    TensorTree<Arguments>::collect(arguments, "", &inputs);
  }
  return inputs;
}

/// @param module  Provides parameters and the module tree.
/// @param model   Provides forward(): the module itself, or its holder.
/// @param input   The input of forward().
/// @param options See GraphOptions.
template <typename Model, typename Input>
event::Graph graphOfEager(torch::nn::Module& module, Model& model, const Input& input,
                          const GraphOptions& options) {
  const auto arguments = argumentsFor<Model>(input);
  using Arguments = std::decay_t<decltype(arguments)>;
  EagerModel eager;
  eager.root = &module;
  eager.inputs = namedInputs(arguments);
  eager.forward = [&](const std::vector<at::Tensor>& tensors) {
    TensorCursor cursor(tensors);
    auto result = std::apply(
        [&](auto&&... values) { return model.forward(std::forward<decltype(values)>(values)...); },
        TensorTree<Arguments>::rebuilt(arguments, cursor));
    std::vector<NamedTensor> outputs;
    TensorTree<std::decay_t<decltype(result)>>::collect(result, "", &outputs);
    return outputs;
  };
  return graphOf(eager, options);
}

/// @tparam Value Always c10::IValue. A template parameter, because c10::IValue is incomplete here.
template <typename Value = c10::IValue, typename Input>
std::vector<Value> scriptArguments(const Input& input) {
  if constexpr (std::is_same_v<Input, std::vector<Value>>) {
    return input;
  } else {
    return {Value(input)};
  }
}
template <typename Value = c10::IValue, typename... Elements>
std::vector<Value> scriptArguments(const std::tuple<Elements...>& input) {
  return std::apply([](const auto&... elements) { return std::vector<Value>{Value(elements)...}; },
                    input);
}

}  // namespace detail::libtorch

/// An eager module held by value.
template <typename Model>
struct GraphTraits<Model, std::enable_if_t<std::is_base_of_v<torch::nn::Module, Model>>> {
  template <typename Input>
  static event::Graph graph(Model& model, const Input& input, const GraphOptions& options) {
    return detail::libtorch::graphOfEager(model, model, input, options);
  }
};

/// An eager module held by a std::shared_ptr.
template <typename Model>
struct GraphTraits<std::shared_ptr<Model>,
                   std::enable_if_t<std::is_base_of_v<torch::nn::Module, Model>>> {
  template <typename Input>
  static event::Graph graph(const std::shared_ptr<Model>& model, const Input& input,
                            const GraphOptions& options) {
    return detail::libtorch::graphOfEager(*model, *model, input, options);
  }
};

/// A holder made by TORCH_MODULE, or torch::nn::Sequential.
template <typename Holder>
struct GraphTraits<
    Holder, std::enable_if_t<std::is_base_of_v<torch::detail::ModuleHolderIndicator, Holder>>> {
  template <typename Input>
  static event::Graph graph(const Holder& model, const Input& input, const GraphOptions& options) {
    const auto& module = model.ptr();
    return detail::libtorch::graphOfEager(*module, *module, input, options);
  }
};

/// A torch::nn::AnyModule, whose type is erased; forward() must return one tensor.
template <typename Model>
struct GraphTraits<Model, std::enable_if_t<std::is_same_v<Model, torch::nn::AnyModule>>> {
  template <typename Input>
  static event::Graph graph(Model& model, const Input& input, const GraphOptions& options) {
    return detail::libtorch::graphOfEager(*model.ptr(), model, input, options);
  }
};

/// A TorchScript module. The graph is the compiled one, with the modules' scopes and control flow;
/// one forward pass on copies of the input determines the shapes.
///
/// The input is as for an eager module; std::vector<c10::IValue> are the arguments of forward().
template <>
struct GraphTraits<torch::jit::Module> {
  template <typename Input>
  static event::Graph graph(const torch::jit::Module& module, const Input& input,
                            const GraphOptions& options) {
    return detail::libtorch::graphOf(module, detail::libtorch::scriptArguments(input), options);
  }
};

}  // namespace steptape
