// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/event/graph.h"
#include "steptape/trace/trace.h"
#include "steptape/writer/summary_writer.h"

namespace steptape {

/// Options of profileGraph() and addGraphProfile().
struct GraphProfileOptions {
  /// The name that OpProfiler::watch() was given for the model.
  std::string model;
};

/// What the recorded steps of a training loop spent on the nodes of a graph.
struct GraphProfile {
  /// By node, what its calls took in a step, on average over the steps that have any, and the most
  /// bytes that one of them allocated and kept; where no memory was recorded, those of its output
  /// as the graph knows it.
  std::vector<event::GraphNodeStats> forward;
  /// What the gradients of these calls took, under the names of the same nodes.
  std::vector<event::GraphNodeStats> backward;
};

/// Finds the nodes of a graph in a trace: operators of the same name and module, in the same order.
///
/// Modules are known where ProfilerOptions::shapes and OpProfiler::watch() say so, of operators
/// that read parameters; the others lie between these in both. Where no modules are known, the
/// order of the names decides. Looked at is the forward part of each step, on the thread that makes
/// it; several forward passes in a step count together. A node that was never found has no stats.
///
/// @param graph Of the model that was trained, whose scopes are modules such as "conv1[Conv2d]";
///              see modelGraph().
/// @threads Thread-safe.
STEPTAPE_EXPORT GraphProfile profileGraph(const event::Graph& graph, const Trace& trace,
                                          const GraphProfileOptions& options = {});

/// Adds a window of a profile to the run's graph, by which TensorBoard can color its nodes:
///
///     const steptape::event::Graph graph = steptape::modelGraph(model, input);
///     writer.addGraph(graph);
///     options.onTrace = [graph](const steptape::Trace& trace, steptape::SummaryWriter* writer,
///                               std::int64_t step) {
///       if (writer != nullptr) {
///         steptape::addGraphProfile(*writer, graph, trace, step);
///       }
///     };
///
/// TensorBoard lists it as the session runs "profile step <step>" and "profile step <step>
/// backward". Nothing is added where no node was found.
///
/// @threads Thread-safe.
STEPTAPE_EXPORT void addGraphProfile(SummaryWriter& writer, const event::Graph& graph,
                                     const Trace& trace, std::int64_t step,
                                     const GraphProfileOptions& options = {});

}  // namespace steptape
