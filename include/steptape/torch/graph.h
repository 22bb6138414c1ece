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
#include "steptape/event/graph.h"
#include "steptape/summary/graph_traits.h"
#include "steptape/torch/tensor_tree.h"

// Declared, not included: <torch/nn/module.h> takes ten seconds to compile, and a program that has
// a model has included it.
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
// LibTorch's tracer traces an eager module: its forward() runs once, in the mode it is in (train()
// or eval()), on copies of the input, and twice more to measure it. After that is as it was before:
// buffers such as the running statistics of BatchNorm, gradients, train() flags, the random
// generators of the devices that the model and its input are on, grad mode. What cannot be undone
// is what forward() does elsewhere: parameters that it assigns to in place, generators and counters
// of its own.
//
// Scopes are the module tree, each level "name[Type]". An operator belongs to the module whose
// parameters it reads; one that reads none to the deepest scope that its neighbors share; a
// STEPTAPE_ZONE in forward() is a scope of its name inside the deepest scope that everything in it
// shares. Operators that repeat in a scope, as those of a loop do, are numbered, and TensorBoard
// folds five or more into a series.
//
// Constants are attributes of the operator that reads them, as far as they are numbers, strings or
// lists of such; of tensors only shape and type are kept.
//
// Steptape records the operators of one forward pass instead if GraphOptions::trace is false, if
// the tracer fails, or if LibTorch has no tracer. If it failed, Graph::description says why. The
// recorded graph has the same nodes, names, scopes, edges, shapes and attributes, except:
//
//   - A write through a view, such as cache[0].copy_(x), has edges to what reads the whole tensor
//     afterwards, and an operator that returns nothing to what reads the tensor that it wrote to.
//     The tracer loses both.
//   - x.data() is x. To the tracer it is a constant.
//   - A torch::autograd::Function that computes without operators is a node, with edges from those
//     of its inputs that require gradients. The tracer loses them.
//   - Casts that autocast inserts are not shown.
//   - An operator has the name that forward() calls it by: "aten::concat", where the tracer writes
//     "aten::cat".
//
// Neither way shows operators on whose results no output and no buffer depends.

namespace steptape {
namespace detail {

/// An eager model and its input, without their C++ types.
struct EagerModel {
  torch::nn::Module* root = nullptr;
  std::vector<NamedTensor> inputs;
  /// forward() with other tensors in place of the inputs'.
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

/// What forward() is called with: the elements of a tuple where it takes those, else `input` whole.
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

/// Whether `input` comes with the names of its own entries, or is an argument among others.
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

/// @param module What parameters and the tree are asked of.
/// @param model  What has forward(): the module itself, or its holder.
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

/// @tparam Value Always that: a parameter, because c10::IValue is incomplete until a call names
///               one.
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

}  // namespace detail

/// An eager module held by value.
template <typename Model>
struct GraphTraits<Model, std::enable_if_t<std::is_base_of_v<torch::nn::Module, Model>>> {
  template <typename Input>
  static event::Graph graph(Model& model, const Input& input, const GraphOptions& options) {
    return detail::graphOfEager(model, model, input, options);
  }
};

/// An eager module held by a std::shared_ptr.
template <typename Model>
struct GraphTraits<std::shared_ptr<Model>,
                   std::enable_if_t<std::is_base_of_v<torch::nn::Module, Model>>> {
  template <typename Input>
  static event::Graph graph(const std::shared_ptr<Model>& model, const Input& input,
                            const GraphOptions& options) {
    return detail::graphOfEager(*model, *model, input, options);
  }
};

/// What TORCH_MODULE makes, torch::nn::Sequential included.
template <typename Holder>
struct GraphTraits<
    Holder, std::enable_if_t<std::is_base_of_v<torch::detail::ModuleHolderIndicator, Holder>>> {
  template <typename Input>
  static event::Graph graph(const Holder& model, const Input& input, const GraphOptions& options) {
    const auto& module = model.ptr();
    return detail::graphOfEager(*module, *module, input, options);
  }
};

/// A module whose type LibTorch has forgotten; it must return one tensor.
template <typename Model>
struct GraphTraits<Model, std::enable_if_t<std::is_same_v<Model, torch::nn::AnyModule>>> {
  template <typename Input>
  static event::Graph graph(Model& model, const Input& input, const GraphOptions& options) {
    return detail::graphOfEager(*model.ptr(), model, input, options);
  }
};

/// A TorchScript module. Its graph is taken as it was compiled, with the modules' own scopes and
/// control flow; one forward pass on copies of the input tells the shapes.
///
/// @param input As for an eager module; std::vector<c10::IValue> are the arguments of forward().
template <>
struct GraphTraits<torch::jit::Module> {
  template <typename Input>
  static event::Graph graph(const torch::jit::Module& module, const Input& input,
                            const GraphOptions& options) {
    return detail::graphOf(module, detail::scriptArguments(input), options);
  }
};

}  // namespace steptape
