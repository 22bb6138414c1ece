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
#include "steptape/events/event.h"

namespace steptape::event {

/// The sizes of a tensor's dimensions; -1 if unknown.
using GraphShape = std::vector<std::int64_t>;

/// An attribute of a node, as TensorBoard lists it. A shape is a list of integers.
using GraphAttribute =
    std::variant<std::string, bool, std::int64_t, double, TensorType, std::vector<std::int64_t>,
                 std::vector<double>, std::vector<std::string>>;

/// One operator, parameter, input or output of a graph.
struct GraphNode {
  /// Unique in the graph. '/' separates the scopes, which TensorBoard can fold, such as
  /// "Net/Conv2d[conv1]/convolution".
  std::string name;
  std::string op;  ///< The operation, such as "aten::convolution" or "Parameter".
  /// Names of its input nodes. "name:1" is the second output of "name"; "^name" is a control
  /// dependency.
  std::vector<std::string> inputs;
  std::string device;  ///< Such as "/device:CPU:0"; empty if unknown.
  /// The shape of each output, which TensorBoard shows on the outgoing edges. Unset if not even the
  /// rank is known.
  std::vector<std::optional<GraphShape>> outputShapes;
  TensorType outputType = TensorType::kInvalid;  ///< Of the first output.
  std::vector<std::pair<std::string, GraphAttribute>> attributes;
};

/// The time and memory of one execution of a node.
struct GraphNodeStats {
  std::string name;                 ///< GraphNode::name
  std::string device;               ///< As GraphNode::device.
  std::int64_t startMicros = 0;     ///< Since 1970-01-01 UTC; 0 means missing to TensorBoard.
  std::int64_t durationMicros = 0;  ///< At least 1, for the same reason.
  std::int64_t outputBytes = 0;     ///< Memory of its outputs; 0 if unknown.
};

/// Returns the measurement of one execution of `node` in the form that TensorBoard reads: on the
/// CPU if the device is unknown, and of at least 1 us.
///
/// @threads Thread-safe.
STEPTAPE_EXPORT GraphNodeStats graphNodeStats(const GraphNode& node, std::int64_t startMicros,
                                              std::chrono::nanoseconds duration,
                                              std::int64_t outputBytes);

/// A computation for TensorBoard's graph page.
struct Graph {
  std::vector<GraphNode> nodes;
  /// Measured time and memory, by which TensorBoard can color the nodes; may be empty.
  std::vector<GraphNodeStats> stats;
  /// How the graph was recorded, in Markdown; may be empty.
  std::string description;
};

/// Checks that names are present and unique, and that inputs and stats name existing nodes, as
/// TensorBoard assumes.
///
/// @throws  Error(kInvalidArgument) naming the first node without a name, with the name of another
///          node, or with a missing input; or the first measurement of a missing node.
/// @threads Thread-safe.
STEPTAPE_EXPORT void checkGraph(const Graph& graph);

/// Encodes the nodes as a tensorflow.GraphDef.
///
/// Invalid UTF-8 in names and texts is replaced by U+FFFD. GraphNode::outputShapes and
/// GraphNode::outputType become the attributes "_output_shapes" and "dtype". Floating-point
/// attributes are stored as IEEE binary32.
///
/// @threads Thread-safe.
/// @source  tensorflow/core/framework/{graph,node_def,attr_value}.proto
STEPTAPE_EXPORT GraphDef encodeGraph(const Graph& graph);

/// Encodes the stats as a tensorflow.RunMetadata under `tag`, the name of the session run on
/// TensorBoard's graph page. TensorBoard can color nodes by "Compute time" and "Memory" if their
/// devices have names such as "/device:CPU:0".
///
/// @threads Thread-safe.
/// @source  tensorflow/core/protobuf/config.proto, tensorflow/core/framework/step_stats.proto
STEPTAPE_EXPORT TaggedRunMetadata encodeGraphStats(const Graph& graph, std::string tag);

}  // namespace steptape::event
