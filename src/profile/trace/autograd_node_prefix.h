// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace steptape::detail::profile {

/// Begins the name of the span that LibTorch's autograd engine records around each node.
///
/// @source torch/csrc/autograd/engine.cpp of PyTorch
inline constexpr std::string_view kAutogradNodePrefix = "autograd::engine::evaluate_function: ";

}  // namespace steptape::detail::profile
