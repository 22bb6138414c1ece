// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "steptape/events/graph.h"
#include "steptape/libtorch/tensor_tree.h"

#include "libtorch/graph/graph_draft.h"
#include "libtorch/graph/model_tree.h"

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <ATen/core/jit_type.h>

namespace steptape::detail::libtorch {

// Makes nodes of a draft from LibTorch's tensors, arguments and operators.

/// Returns kInvalid for types that TensorFlow does not number or that graphs do not need.
event::TensorType tensorType(at::ScalarType type);

/// Returns a name such as "/device:CPU:0".
std::string deviceName(const at::Device& device);

/// Sets shape and size of output number `output`; for the first output, also type and device.
void describeOutput(const at::Tensor& tensor, std::size_t output, DraftNode* node);
/// Does the same with what is known from `type`.
void describeOutput(const c10::TensorType& type, std::size_t output, DraftNode* node);

DraftNode inputNode(const NamedTensor& input);
/// Makes a node for the model's output `name`, which `edge`, an output of `producer`, makes.
DraftNode outputNode(const std::string& name, DraftEdge edge, const DraftNode& producer);
DraftNode parameterNode(const ModelTensor& parameter);
/// Makes a node for a tensor that no operator made. TensorBoard draws it as a part of its reader.
DraftNode constantNode(const at::Tensor& tensor);
/// @param kind LibTorch's name: "aten::relu_" gives a node with the leaf "relu".
DraftNode operatorNode(const std::string& kind);

/// Returns `value` as TensorBoard shows it for argument `name`. Unset if it is a tensor of more
/// than one element, or cannot be written in a line.
std::optional<event::GraphAttribute> attributeOf(const std::string& name, const c10::IValue& value);

}  // namespace steptape::detail::libtorch
