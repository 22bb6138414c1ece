// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include <ATen/core/ivalue.h>
#include <c10/util/ArrayRef.h>
#include <torch/nn/module.h>

namespace steptape::detail::libtorch {

/// Remembers the module of each parameter and buffer of `model`, by the tensor's identity.
///
/// @param name Name of the model itself. Its modules are "<name>.<path>", or their path if the name
///             is empty.
/// @threads Thread-safe; concurrent operators use the old or the new state.
void rememberModules(const torch::nn::Module& model, const std::string& name);

/// Forgets all models.
void forgetModules() noexcept;

/// Returns the module of the first parameter or buffer among the inputs; 0 if there is none.
///
/// @threads Thread-safe, without a lock.
/// @cost    One load while no model is remembered; else one hash look-up per tensor.
std::uint16_t moduleOf(c10::ArrayRef<const c10::IValue> inputs);

/// Returns the name for a result of moduleOf(); empty for 0.
std::string moduleName(std::uint16_t moduleId);

}  // namespace steptape::detail::libtorch
