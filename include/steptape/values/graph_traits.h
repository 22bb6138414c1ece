// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <type_traits>

#include "steptape/events/graph.h"

namespace steptape {

/// Options of addGraph() and addOnnxGraph().
struct GraphOptions {
  std::optional<double> wallTime = std::nullopt;  ///< As in value_options.h.
  /// Whether to run the model twice more and measure each operator in the second run. TensorBoard
  /// can color the graph by the measured times.
  bool measure = true;
  std::string sessionRun = "step1";  ///< Name of the measurement in TensorBoard's menu.
  /// The time of one call of each operator, such as "aten::conv2d"; operatorTimes() computes it
  /// from a profile. If it is not empty, it replaces the measurement.
  std::map<std::string, std::chrono::nanoseconds> operatorTimes = {};
};

/// Lets addGraph(model, input) take a model type:
///
///     template <>
///     struct steptape::GraphTraits<MyModel> {
///       template <typename Input>
///       static event::Graph graph(MyModel& model, const Input& input,
///                                 const GraphOptions& options);
///     };
///
/// It runs on the calling thread. If it throws, addGraph() throws the same, and nothing is written.
/// `<steptape/torch.h>` specializes it for eager modules of LibTorch and for TorchScript.
template <typename Model, typename = void>
struct GraphTraits;

/// Disables an overload unless `Model` has GraphTraits.
template <typename Model, std::size_t = sizeof(GraphTraits<Model>)>
using RequiresGraphTraits = GraphTraits<Model>;

/// Returns the graph that addGraph(model, input) records, to inspect it or for writeGraphProfile().
/// Throws as addGraph() does.
template <typename Model, typename Input,
          typename Traits = RequiresGraphTraits<std::decay_t<Model>>>
event::Graph modelGraph(Model&& model, const Input& input, const GraphOptions& options = {}) {
  return Traits::graph(model, input, options);
}

}  // namespace steptape
