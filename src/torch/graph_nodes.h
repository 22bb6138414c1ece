// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "steptape/event/graph.h"
#include "steptape/torch/tensor_tree.h"

#include "torch/graph_draft.h"
#include "torch/model_tree.h"

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <ATen/core/jit_type.h>

namespace steptape {

// Nodes of a draft from what LibTorch says of tensors, arguments and operators.

/// kInvalid for types that have no number in TensorFlow's list, or none that we need.
event::TensorType tensorType(at::ScalarType type);

/// "/device:CPU:0"
std::string deviceName(const at::Device& device);

/// Notes shape and size of output number `output`; of the first its type and device too.
void describeOutput(const at::Tensor& tensor, std::size_t output, DraftNode* node);
/// As above, as far as `type` knows.
void describeOutput(const c10::TensorType& type, std::size_t output, DraftNode* node);

DraftNode inputNode(const NamedTensor& input);
/// Output `name` of the model, made by `edge`, an output of `producer`.
DraftNode outputNode(const std::string& name, DraftEdge edge, const DraftNode& producer);
DraftNode parameterNode(const ModelTensor& parameter);
/// A tensor that no operator made. TensorBoard draws it as a part of what reads it.
DraftNode constantNode(const at::Tensor& tensor);
/// @param kind As LibTorch names it: "aten::relu_" gives a node with the leaf "relu".
DraftNode operatorNode(const std::string& kind);

/// `value` as what TensorBoard lists of argument `name`; unset if it is a tensor of more than one
/// element, or nothing that can be written in a line.
std::optional<event::GraphAttribute> attributeOf(const std::string& name, const c10::IValue& value);

}  // namespace steptape
