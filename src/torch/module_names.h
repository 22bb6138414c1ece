// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include <ATen/core/ivalue.h>
#include <c10/util/ArrayRef.h>
#include <torch/nn/module.h>

namespace steptape {

/// Remembers which module of `model` each parameter and buffer belongs to, by the tensor's
/// identity.
///
/// @param name What the model itself is called; modules in it are "<name>.<path>", or their path if
///             it is empty.
/// @threads Thread-safe; operators that run meanwhile find the old or the new state.
void rememberModules(const torch::nn::Module& model, const std::string& name);

/// Forgets all of them.
void forgetModules() noexcept;

/// The module whose parameter or buffer is the first among the inputs that is one; 0 if none is.
///
/// @threads Thread-safe, without a lock.
/// @cost    While no model is remembered: a load. Else a look into a hash table for each tensor.
std::uint16_t moduleOf(c10::ArrayRef<const c10::IValue> inputs);

/// The name of a number that moduleOf() returned; of 0 the empty one.
std::string moduleName(std::uint16_t moduleId);

}  // namespace steptape
