// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "torch/graph_draft.h"
#include "torch/tensor_origins.h"

#include <ATen/core/Tensor.h>

namespace torch::autograd {
struct Node;
}

namespace steptape {

/// A call of a custom function, a torch::autograd::Function.
struct FunctionCall {
  std::string name;  ///< Such as "Square".
  /// What made the tensors that it was called with, as far as gradients flow to them.
  std::vector<DraftEdge> inputs;
};

/// Knows which nodes of a draft belong to which outputs of autograd's nodes.
///
/// Autograd tells what operators do not: what a custom function reads that computes without them.
class AutogradOrigins {
 public:
  /// Notes that `edge` made `tensor`. Nothing is noted of a tensor that needs no gradient.
  void add(const at::Tensor& tensor, DraftEdge edge);

  /// Returns the call that returned `tensor`. Unset if an operator did, or no gradient flows.
  ///
  /// @param tensors Knows the parameters.
  std::optional<FunctionCall> callOf(const at::Tensor& tensor, const TensorOrigins& tensors) const;

 private:
  /// A node, its number, as addresses are used again, and which of its outputs.
  using Output = std::tuple<const torch::autograd::Node*, std::uint64_t, std::size_t>;

  /// What made the tensors that `node` reads. Nodes that no operator made are seen through.
  std::vector<DraftEdge> inputsOf(const torch::autograd::Node& node,
                                  const TensorOrigins& tensors) const;
  static Output outputOf(const torch::autograd::Node& node, std::size_t output);

  std::map<Output, DraftEdge> edges_;
};

}  // namespace steptape
