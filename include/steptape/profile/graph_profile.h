// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/events/graph.h"
#include "steptape/log/summary_writer.h"
#include "steptape/profile/trace.h"

namespace steptape {

/// Options of profileGraph() and writeGraphProfile().
struct GraphProfileOptions {
  /// The name passed to OpProfiler::watch() for the model.
  std::string model;
};

/// Time and memory that the recorded steps of a training loop spent on the nodes of a graph.
struct GraphProfile {
  /// Per node: time of its calls per step, averaged over the steps with calls, and the largest
  /// number of bytes that a call allocated and kept. If memory was not recorded: the size of its
  /// output according to the graph.
  std::vector<event::GraphNodeStats> forward;
  /// Time of the gradients of these calls, under the same node names.
  std::vector<event::GraphNodeStats> backward;
};

/// Finds the nodes of a graph in a trace: operators of equal name and module, in the same order.
///
/// Modules are known for operators that read parameters, if ProfilerOptions::shapes is set and
/// OpProfiler::watch() was called; other operators are matched by their position between those.
/// Without modules, the order of names decides. Only the forward part of each step is searched, on
/// the thread that makes the step; several forward passes in a step count together. Nodes that were
/// not found have no stats.
///
/// @param graph   Graph of the trained model, whose scopes are modules such as "conv1[Conv2d]"; see
///         modelGraph().
/// @param trace   The recorded steps.
/// @param options See GraphProfileOptions.
/// @threads Thread-safe.
STEPTAPE_EXPORT GraphProfile profileGraph(const event::Graph& graph, const Trace& trace,
                                          const GraphProfileOptions& options = {});

/// Adds a profile to the run's graph, so that TensorBoard can color the nodes by time and memory:
///
///     const steptape::event::Graph graph = steptape::modelGraph(model, input);
///     writer.addGraph(graph);
///     options.onTrace = [graph](const steptape::Trace& trace, steptape::SummaryWriter* writer,
///                               std::int64_t step) {
///       if (writer != nullptr) {
///         steptape::writeGraphProfile(*writer, graph, trace, step);
///       }
///     };
///
/// TensorBoard lists it as the session runs "profile step `<step>`" and "profile step `<step>`
/// backward". Adds nothing if no node was found.
///
/// @threads Thread-safe.
STEPTAPE_EXPORT void writeGraphProfile(SummaryWriter& writer, const event::Graph& graph,
                                       const Trace& trace, std::int64_t step,
                                       const GraphProfileOptions& options = {});

}  // namespace steptape
