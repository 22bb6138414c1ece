// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "torch/model_tree.h"

namespace steptape {

/// Runs `pass`, a forward pass that must leave no traces, and puts back what it may have changed:
/// the buffers and gradients of `tree`, the random generators of the devices that the model, the
/// `inputs` and the CPU have, grad mode. An exception of `pass` comes through.
///
/// @cost A copy of the buffers; gradients are only set aside.
void runAndRestore(const ModelTree& tree, const std::vector<at::Tensor>& inputs,
                   const std::function<void()>& pass);

/// As above, and puts back the train() flags of an eager model.
void runAndRestore(torch::nn::Module& module, const ModelTree& tree,
                   const std::vector<at::Tensor>& inputs, const std::function<void()>& pass);

/// Copies, with the memory format of the originals, that ask for gradients as those do.
std::vector<at::Tensor> copiesOf(const std::vector<at::Tensor>& tensors);

}  // namespace steptape
