// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "steptape/event/graph.h"

namespace steptape {

/// Options of addGraph() and addOnnxGraph().
struct GraphOptions {
  std::optional<double> wallTime = std::nullopt;
  /// Run the model once more and measure each operator, by which TensorBoard can colour the graph.
  bool measure = true;
  std::string sessionRun = "step1";  ///< Name of the measurement in TensorBoard's menu.
};

/// Specialise for a model type to let addGraph(model, input) take it:
/// `template <typename Input> static Graph graph(Model&, const Input&, const GraphOptions&)`.
/// <steptape/torch.h> does so for eager modules of LibTorch and for TorchScript.
template <typename Model, typename = void>
struct GraphTraits;

}  // namespace steptape
