// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "train/replicas/model/tensor_schema.h"

#include <torch/nn/module.h>

namespace steptape::detail::train {

struct NamedTensor {
  std::string name;
  at::Tensor tensor;  ///< Shares the memory; not part of a graph.
};

inline void appendTensors(const torch::OrderedDict<std::string, at::Tensor>& tensors,
                          std::vector<NamedTensor>& list) {
  for (const auto& item : tensors) {
    list.push_back({item.key(), item.value().detach()});
  }
}

inline std::vector<NamedTensor> parametersAndBuffers(const torch::nn::Module& module) {
  std::vector<NamedTensor> tensors;
  appendTensors(module.named_parameters(), tensors);
  appendTensors(module.named_buffers(), tensors);
  return tensors;
}

inline TensorSchema schemaOf(const std::vector<NamedTensor>& tensors) {
  TensorSchema schema;
  for (const auto& [name, tensor] : tensors) {
    schema.add(name, tensor);
  }
  return schema;
}

}  // namespace steptape::detail::train
