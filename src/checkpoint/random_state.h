// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace torch::nn {
class Module;
}

namespace steptape::detail {

// The state of the generators that training draws from: that of the CPU, and those of the CUDA
// devices on which the module has tensors, in the order in which they come in the module.

std::string randomState(const torch::nn::Module& module);

/// Where the module lies on other devices than it did, they get the states in the same order.
///
/// @throws c10::Error if the bytes are no such state.
void setRandomState(const torch::nn::Module& module, const std::string& state);

}  // namespace steptape::detail
