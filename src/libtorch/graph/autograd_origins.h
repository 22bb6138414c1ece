// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "libtorch/graph/graph_draft.h"
#include "libtorch/graph/tensor_origins.h"

#include <ATen/core/Tensor.h>

namespace torch::autograd {
struct Node;
}

namespace steptape::detail::libtorch {

/// A call of a custom function, a torch::autograd::Function.
struct FunctionCall {
  std::string name;  ///< Such as "Square".
  /// The nodes that made the tensors it was called with, if gradients flow to them.
  std::vector<DraftEdge> inputs;
};

/// Maps outputs of autograd's nodes to nodes of a draft.
///
/// Autograd knows what operators do not show: the inputs of a custom function that computes without
/// operators.
class AutogradOrigins {
 public:
  /// Records that `edge` made `tensor`. Ignores tensors that need no gradient.
  void add(const at::Tensor& tensor, DraftEdge edge);

  /// Returns the call that returned `tensor`. Unset if an operator made it, or no gradient flows.
  ///
  /// @param tensors Contains the parameters.
  std::optional<FunctionCall> callOf(const at::Tensor& tensor, const TensorOrigins& tensors) const;

 private:
  /// A node, its sequence number, because addresses are reused, and the index of an output.
  using Output = std::tuple<const torch::autograd::Node*, std::uint64_t, std::size_t>;

  /// Returns the edges that made the tensors read by `node`. Skips nodes that no operator made.
  std::vector<DraftEdge> inputsOf(const torch::autograd::Node& node,
                                  const TensorOrigins& tensors) const;
  static Output outputOf(const torch::autograd::Node& node, std::size_t output);

  std::map<Output, DraftEdge> edges_;
};

}  // namespace steptape::detail::libtorch
