// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/event/event.h"

namespace steptape::event {

/// Sizes of a tensor's dimensions; -1 where one is not known.
using GraphShape = std::vector<std::int64_t>;

/// What TensorBoard lists under "Attributes" of a node. A shape is a list of integers.
using GraphAttribute =
    std::variant<std::string, bool, std::int64_t, double, TensorType, std::vector<std::int64_t>,
                 std::vector<double>, std::vector<std::string>>;

/// One operator, parameter, input or output of a graph.
struct GraphNode {
  /// Unique in the graph. '/' separates the scopes that TensorBoard folds, such as
  /// "Net/Conv2d[conv1]/convolution".
  std::string name;
  std::string op;  ///< What it does, such as "aten::convolution" or "Parameter".
  /// Names of the nodes it reads; "name:1" is the second output of "name", "^name" only an order.
  std::vector<std::string> inputs;
  std::string device;  ///< Such as "/device:CPU:0"; empty if not known.
  /// Shape of each output: what TensorBoard writes on the edges that leave the node. Unset where
  /// not even the rank is known.
  std::vector<std::optional<GraphShape>> outputShapes;
  TensorType outputType = TensorType::kInvalid;  ///< Of the first output.
  std::vector<std::pair<std::string, GraphAttribute>> attributes;
};

/// What one execution of a node took.
struct GraphNodeStats {
  std::string name;                 ///< GraphNode::name
  std::string device;               ///< As GraphNode::device.
  std::int64_t startMicros = 0;     ///< Since 1970; TensorBoard takes 0 for missing.
  std::int64_t durationMicros = 0;  ///< At least 1, for the same reason.
  std::int64_t outputBytes = 0;     ///< Memory of what it made; 0 if not known.
};

/// What an execution of `node` took, as TensorBoard can read it: with a device, the CPU where none
/// is known, and at least a microsecond.
///
/// @threads Thread-safe.
STEPTAPE_EXPORT GraphNodeStats graphNodeStats(const GraphNode& node, std::int64_t startMicros,
                                              std::chrono::nanoseconds duration,
                                              std::int64_t outputBytes);

/// A computation as TensorBoard's graph page shows it.
struct Graph {
  std::vector<GraphNode> nodes;
  /// Measured times and memory, by which TensorBoard can color the nodes; may be empty.
  std::vector<GraphNodeStats> stats;
  /// How the graph was found, in Markdown; empty if there is nothing to say.
  std::string description;
};

/// Checks what TensorBoard takes for granted.
///
/// @throws  Error(kInvalidArgument) naming the first node that has no name or another one's, that
///          reads a node which is not there, or that is measured and not there.
/// @threads Thread-safe.
STEPTAPE_EXPORT void checkGraph(const Graph& graph);

/// Encodes the nodes as a tensorflow.GraphDef.
///
/// Names and texts that are not UTF-8 are repaired as replaceInvalidUtf8() does. The attributes
/// "_output_shapes" and "dtype" are made of GraphNode::outputShapes and GraphNode::outputType;
/// numbers with a fraction are stored as IEEE binary32.
///
/// @threads Thread-safe.
/// @source  tensorflow/core/framework/{graph,node_def,attr_value}.proto
STEPTAPE_EXPORT GraphDef encodeGraph(const Graph& graph);

/// Encodes the stats as a tensorflow.RunMetadata under `tag`, the name of the session run in
/// TensorBoard's graph page. Its devices are those of the stats; TensorBoard offers "Compute time"
/// and "Memory" as colors for nodes of devices named like "/device:CPU:0".
///
/// @threads Thread-safe.
/// @source  tensorflow/core/protobuf/config.proto, tensorflow/core/framework/step_stats.proto
STEPTAPE_EXPORT TaggedRunMetadata encodeGraphStats(const Graph& graph, std::string tag);

}  // namespace steptape::event
