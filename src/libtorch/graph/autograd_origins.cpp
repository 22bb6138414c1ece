// SPDX-License-Identifier: Apache-2.0
#include "libtorch/graph/autograd_origins.h"

#include <string_view>
#include <unordered_set>

#include "base/text.h"
#include "libtorch/graph/graph_scopes.h"

#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/functions/accumulate_grad.h>
#include <torch/csrc/autograd/variable.h>

namespace steptape::detail::libtorch {
namespace {

namespace autograd = ::torch::autograd;

/// Returns the type of a custom function, derived from the node that LibTorch makes for it; else
/// empty.
std::string functionName(const autograd::Node& node) {
  constexpr std::string_view kNode = "torch::autograd::CppNode<";
  const std::string type = node.name();
  return base::startsWith(type, kNode)
             ? shortTypeName(type.substr(kNode.size(), type.size() - kNode.size() - 1))
             : "";
}

}  // namespace

AutogradOrigins::Output AutogradOrigins::outputOf(const autograd::Node& node, std::size_t output) {
  return {&node, node.sequence_nr(), output};
}

void AutogradOrigins::add(const at::Tensor& tensor, DraftEdge edge) {
  // grad_fn_unsafe() may return an outdated node of a view. grad_fn() would update it, or throw if
  // that is impossible.
  if (const autograd::Node* node = autograd::impl::grad_fn_unsafe(tensor)) {
    edges_[outputOf(*node, tensor.output_nr())] = edge;
  }
}

std::optional<FunctionCall> AutogradOrigins::callOf(const at::Tensor& tensor,
                                                    const TensorOrigins& tensors) const {
  const autograd::Node* node = autograd::impl::grad_fn_unsafe(tensor);
  if (node == nullptr || edges_.count(outputOf(*node, tensor.output_nr())) != 0) {
    return std::nullopt;
  }
  FunctionCall call{functionName(*node), {}};
  if (call.name.empty()) {
    return std::nullopt;
  }
  call.inputs = inputsOf(*node, tensors);
  return call;
}

std::vector<DraftEdge> AutogradOrigins::inputsOf(const autograd::Node& node,
                                                 const TensorOrigins& tensors) const {
  std::vector<DraftEdge> inputs;
  std::vector<const autograd::Node*> unknown{&node};
  std::unordered_set<const autograd::Node*> seen{&node};
  while (!unknown.empty()) {
    const autograd::Node& reader = *unknown.back();
    unknown.pop_back();
    for (const autograd::Edge& read : reader.next_edges()) {
      if (!read.is_valid()) {
        continue;
      }
      const auto known = edges_.find(outputOf(*read.function, read.input_nr));
      if (known != edges_.end()) {
        inputs.push_back(known->second);
      } else if (const auto* leaf =
                     dynamic_cast<const autograd::AccumulateGrad*>(read.function.get())) {
        const std::vector<DraftEdge> edges = tensors.find(leaf->variable);
        inputs.insert(inputs.end(), edges.begin(), edges.end());
      } else if (seen.insert(read.function.get()).second) {
        unknown.push_back(read.function.get());
      }
    }
  }
  return inputs;
}

}  // namespace steptape::detail::libtorch
