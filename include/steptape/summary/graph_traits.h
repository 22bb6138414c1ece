// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <type_traits>

#include "steptape/event/graph.h"

namespace steptape {

/// Options of addGraph() and addOnnxGraph().
struct GraphOptions {
  std::optional<double> wallTime = std::nullopt;  ///< As in value_options.h.
  /// Run the model twice more, and measure each operator in the second of these passes: TensorBoard
  /// can color the graph by it.
  bool measure = true;
  std::string sessionRun = "step1";  ///< Name of the measurement in TensorBoard's menu.
  /// What one call takes by operator, such as "aten::conv2d"; operatorTimes() takes it from a
  /// profile. If there is any, it is used, and nothing is measured.
  std::map<std::string, std::chrono::nanoseconds> operatorTimes = {};
  /// Use LibTorch's tracer for an eager module where it works. If false, record the operators of
  /// one forward pass; <steptape/torch/graph.h> lists the differences.
  bool trace = true;
};

/// Specialize for a model type to let addGraph(model, input) take it:
///
///     template <>
///     struct steptape::GraphTraits<MyModel> {
///       template <typename Input>
///       static event::Graph graph(MyModel& model, const Input& input,
///                                 const GraphOptions& options);
///     };
///
/// It runs on the caller; what it throws comes out of addGraph(), and nothing is written.
/// <steptape/torch.h> does so for eager modules of LibTorch and for TorchScript.
template <typename Model, typename = void>
struct GraphTraits;

/// Removes an overload unless `Model` has GraphTraits.
template <typename Model, std::size_t = sizeof(GraphTraits<Model>)>
using RequiresGraphTraits = GraphTraits<Model>;

/// What addGraph(model, input) records, for a look at it, or for addGraphProfile().
///
/// @throws as addGraph().
template <typename Model, typename Input,
          typename Traits = RequiresGraphTraits<std::decay_t<Model>>>
event::Graph modelGraph(Model&& model, const Input& input, const GraphOptions& options = {}) {
  return Traits::graph(model, input, options);
}

}  // namespace steptape
