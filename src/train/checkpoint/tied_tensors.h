// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "train/replicas/model/named_tensors.h"

#include <ATen/core/Tensor.h>

namespace steptape::detail::train {

/// Names of a module that share one tensor; most have one name.
struct TiedTensor {
  std::vector<std::string> names;  ///< In alphabetical order.
  at::Tensor tensor;
};

/// Joins tensors that are the same memory with the same type, shape and strides.
///
/// @return in alphabetical order of their first names.
std::vector<TiedTensor> tiedTensors(std::vector<NamedTensor> tensors);

}  // namespace steptape::detail::train
