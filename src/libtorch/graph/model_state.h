// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "libtorch/graph/model_tree.h"

namespace steptape::detail::libtorch {

/// Runs `pass`, a forward pass without side effects: restores the buffers and gradients of `tree`,
/// the random generators of the CPU and of the devices of the model and of `inputs`, and grad mode.
/// Rethrows exceptions of `pass`.
///
/// @cost A copy of the buffers; gradients are only moved.
void runAndRestore(const ModelTree& tree, const std::vector<at::Tensor>& inputs,
                   const std::function<void()>& pass);

/// Does the same, and also restores the train() flags of an eager model.
void runAndRestore(torch::nn::Module& module, const ModelTree& tree,
                   const std::vector<at::Tensor>& inputs, const std::function<void()>& pass);

/// Returns copies with the memory format and the requires_grad of the originals.
std::vector<at::Tensor> copiesOf(const std::vector<at::Tensor>& tensors);

}  // namespace steptape::detail::libtorch
