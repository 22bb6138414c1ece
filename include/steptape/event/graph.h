// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/event/event.h"

namespace steptape {

/// Sizes of a tensor's dimensions; -1 where one is not known.
using GraphShape = std::vector<std::int64_t>;

/// What TensorBoard lists under "Attributes" of a node.
using GraphAttribute =
    std::variant<std::string, bool, std::int64_t, double, TensorType, GraphShape,
                 std::vector<std::int64_t>, std::vector<double>, std::vector<std::string>>;

/// One operator, parameter, input or output of a graph.
struct GraphNode {
  /// Unique in the graph. '/' separates the scopes that TensorBoard folds, such as
  /// "Net/Conv2d[conv1]/convolution".
  std::string name;
  std::string op;  ///< What it does, such as "aten::convolution" or "Parameter".
  /// Names of the nodes it reads; "name:1" is the second output of "name", "^name" only an order.
  std::vector<std::string> inputs;
  std::string device;  ///< Such as "/device:CPU:0"; empty if not known.
  /// Shape of each output: what TensorBoard writes on the edges that leave the node.
  std::vector<GraphShape> outputShapes;
  TensorType outputType = TensorType::kInvalid;  ///< Of the first output.
  std::vector<std::pair<std::string, GraphAttribute>> attributes;
};

/// What one execution of a node took.
struct GraphNodeStats {
  std::string name;    ///< GraphNode::name
  std::string device;  ///< As GraphNode::device.
  std::int64_t startMicros = 0;
  std::int64_t durationMicros = 0;
  std::int64_t outputBytes = 0;  ///< Memory of what it made; 0 if not known.
};

/// A computation as TensorBoard's graph page shows it.
struct Graph {
  std::vector<GraphNode> nodes;
  /// Measured times and memory, by which TensorBoard can colour the nodes; may be empty.
  std::vector<GraphNodeStats> stats;
  /// How the graph was found, in Markdown; empty if there is nothing to say.
  std::string description;
};

/// Encodes the nodes as a tensorflow.GraphDef.
///
/// @threads Thread-safe.
/// @source  tensorflow/core/framework/{graph,node_def,attr_value}.proto
STEPTAPE_EXPORT GraphDef encodeGraph(const Graph& graph);

/// Encodes the stats as a tensorflow.RunMetadata under `tag`, the name of the session run in
/// TensorBoard's graph page.
///
/// @threads Thread-safe.
/// @source  tensorflow/core/protobuf/config.proto, tensorflow/core/framework/step_stats.proto
STEPTAPE_EXPORT TaggedRunMetadata encodeGraphStats(const Graph& graph, std::string tag);

}  // namespace steptape
