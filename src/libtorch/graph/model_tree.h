// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "libtorch/graph/graph_draft.h"

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

namespace torch::nn {
class Module;
}
namespace torch::jit {
struct Module;
}

namespace steptape::detail::libtorch {

/// A parameter or a buffer of a model.
struct ModelTensor {
  std::string path;  ///< Such as "layer1.0.weight".
  std::string name;  ///< Its last part.
  Scope scope;       ///< Of the module that owns it.
  at::Tensor tensor;
  bool isParameter = false;
};

/// A model's modules and tensors.
struct ModelTree {
  Scope root;
  /// Each tensor once, under its first path; without undefined tensors.
  std::vector<ModelTensor> tensors;
  std::unordered_map<std::string, Scope> scopes;        ///< Of modules, by path; "" is the root.
  std::unordered_map<std::string, std::size_t> byPath;  ///< Indices of tensors; includes aliases.
};

ModelTree modelTree(const torch::nn::Module& module);
ModelTree modelTree(const torch::jit::Module& module);

}  // namespace steptape::detail::libtorch
