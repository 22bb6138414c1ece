// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "steptape/base/export.h"
#include "steptape/event/graph.h"

#include "event/onnx.h"

namespace steptape {

/// Lays an ONNX model out as TensorBoard's graph page shows it.
///
///     input/image ─▶ layer1/conv1/Conv ─▶ layer1/relu/Relu ─▶ … ─▶ output/logits
///                     ▲  layer1/conv1/weight
///
/// There is a node for each operator, initializer and input of every graph, and for each output of
/// the model; none is left out or joined with another. Nodes are named by these rules, so that the
/// modules of a PyTorch export become scopes:
///
/// - An operator keeps its name without '/' in front; one without a name is "<op>_<n>", counted per
///   scope. ':' becomes '_', and a name that is there already gets a number.
/// - Inputs and outputs are "input/<name>" and "output/<name>".
/// - An initializer is put in the deepest scope that all its readers share, and its name loses what
///   only repeats that scope.
/// - The graphs of an If, Loop or Scan are scopes "<operator>/<attribute>". Their inputs are fed by
///   the operator's, and the operator reads their outputs.
///
/// Ops are those of ONNX, with the domain in front where it is not ONNX's own
/// ("com.microsoft::Gelu"), or "Input", "Output", "Initializer". Of tensors shape and type are
/// kept, where the file has them.
///
/// @throws  Error(kInvalidArgument) naming the model and the first value that is read and not made.
/// @threads Thread-safe.
/// @cost    Linear in the nodes.
STEPTAPE_EXPORT event::Graph onnxGraph(const OnnxModel& model);

}  // namespace steptape
