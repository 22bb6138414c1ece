// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "steptape/base/export.h"
#include "steptape/events/graph.h"

#include "events/messages/onnx.h"

namespace steptape::detail::values {

/// Converts an ONNX model to a graph for TensorBoard's graph page.
///
///     input/image ─▶ layer1/conv1/Conv ─▶ layer1/relu/Relu ─▶ … ─▶ output/logits
///                           ▲  layer1/conv1/weight
///
/// Every operator, initializer and input of every graph becomes a node, and every output of the
/// model. None is omitted or merged with another. These rules make scopes of the modules of a
/// PyTorch export:
///
/// - An operator keeps its name without a leading '/'. An operator without a name is "<op>_<n>",
///   counted per scope. '_' replaces ':', and a repeated name gets a number.
/// - Inputs and outputs are "input/<name>" and "output/<name>".
/// - An initializer is in the deepest scope that all its readers share. Its name loses the part
///   that repeats that scope.
/// - The graphs of an If, Loop or Scan are scopes "<operator>/<attribute>". Their inputs are
///   connected to the operator's inputs, and the operator reads their outputs.
///
/// Ops are named as in ONNX, prefixed by the domain if it is not ONNX's own
/// ("com.microsoft::Gelu"), or "Input", "Output", "Initializer". Tensors have their shape and type
/// if the file has them.
///
/// @throws  Error(kInvalidArgument) with the model and the first value that is read but that
///          nothing makes.
/// @threads Thread-safe.
/// @cost    Linear in the number of nodes.
STEPTAPE_EXPORT event::Graph onnxGraph(const events::OnnxModel& model);

}  // namespace steptape::detail::values
