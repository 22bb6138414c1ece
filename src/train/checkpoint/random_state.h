// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace torch::nn {
class Module;
}

namespace steptape::detail::train {

// The state of the random generators that training uses: the CPU's, and those of the CUDA devices
// on which the module has tensors, in the order in which the devices occur in the module.

std::string randomState(const torch::nn::Module& module);

/// Restores the states. If the module is on other devices than before, these get the states in the
/// same order.
///
/// @throws c10::Error if the bytes are not such a state.
void setRandomState(const torch::nn::Module& module, const std::string& state);

}  // namespace steptape::detail::train
