// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <utility>
#include <variant>

#include "steptape/events/graph.h"
#include "steptape/wire/graph.pb.h"

#include "base/utf8.h"

namespace steptape::event {
namespace {

// Version of the GraphDef format; the same as in torch.utils.tensorboard.
// @source torch/utils/tensorboard/_pytorch_graph.py
constexpr std::int32_t kProducer = 22;

// The attribute that TensorBoard shows as labels of edges.
constexpr char kOutputShapes[] = "_output_shapes";

// Without a device, or with a time of 0, TensorBoard shows no measurement.
constexpr char kDefaultDevice[] = "/device:CPU:0";

wire::AttrValue* addAttribute(const std::string& key, wire::NodeDef* node) {
  wire::NodeDef::Attr* attribute = node->add_attr();
  attribute->set_key(detail::base::replaceInvalidUtf8(key));
  return attribute->mutable_value();
}

/// One overload per alternative of GraphAttribute.
struct AttributeEncoder {
  wire::AttrValue* out;

  void operator()(const std::string& text) const {
    out->set_s(detail::base::replaceInvalidUtf8(text));
  }
  void operator()(bool value) const { out->set_b(value); }
  void operator()(std::int64_t value) const { out->set_i(value); }
  void operator()(double value) const { out->set_f(static_cast<float>(value)); }
  void operator()(TensorType type) const { out->set_type(static_cast<std::int32_t>(type)); }
  void operator()(const std::vector<std::int64_t>& values) const {
    out->mutable_list()->mutable_i()->Add(values.begin(), values.end());
  }
  void operator()(const std::vector<double>& values) const {
    wire::AttrValue::ListValue* list = out->mutable_list();
    for (const double value : values) {
      list->add_f(static_cast<float>(value));
    }
  }
  void operator()(const std::vector<std::string>& texts) const {
    wire::AttrValue::ListValue* list = out->mutable_list();
    for (const std::string& text : texts) {
      list->add_s(detail::base::replaceInvalidUtf8(text));
    }
  }
};

void encodeShape(const std::optional<GraphShape>& shape, wire::TensorShapeProto* out) {
  if (!shape) {
    out->set_unknown_rank(true);
    return;
  }
  for (const std::int64_t size : *shape) {
    out->add_dim()->set_size(size);
  }
}

void encodeNode(const GraphNode& node, wire::NodeDef* out) {
  out->set_name(detail::base::replaceInvalidUtf8(node.name));
  out->set_op(detail::base::replaceInvalidUtf8(node.op));
  for (const std::string& input : node.inputs) {
    out->add_input(detail::base::replaceInvalidUtf8(input));
  }
  out->set_device(detail::base::replaceInvalidUtf8(node.device));
  if (node.outputType != TensorType::kInvalid) {
    AttributeEncoder{addAttribute("dtype", out)}(node.outputType);
  }
  for (const auto& [key, value] : node.attributes) {
    std::visit(AttributeEncoder{addAttribute(key, out)}, value);
  }
  if (!node.outputShapes.empty()) {
    wire::AttrValue::ListValue* shapes = addAttribute(kOutputShapes, out)->mutable_list();
    for (const auto& shape : node.outputShapes) {
      encodeShape(shape, shapes->add_shape());
    }
  }
}

void encodeStats(const GraphNodeStats& stats, wire::NodeExecStats* out) {
  out->set_node_name(detail::base::replaceInvalidUtf8(stats.name));
  out->set_all_start_micros(stats.startMicros);
  out->set_op_end_rel_micros(stats.durationMicros);
  out->set_all_end_rel_micros(stats.durationMicros);
  if (stats.outputBytes > 0) {
    wire::AllocatorMemoryUsed* memory = out->add_memory();
    memory->set_allocator_name("outputs");
    memory->set_total_bytes(stats.outputBytes);
  }
}

}  // namespace

GraphNodeStats graphNodeStats(const GraphNode& node, std::int64_t startMicros,
                              std::chrono::nanoseconds duration, std::int64_t outputBytes) {
  const auto micros = std::chrono::duration_cast<std::chrono::microseconds>(duration).count();
  return {node.name, node.device.empty() ? kDefaultDevice : node.device, startMicros,
          std::max<std::int64_t>(1, micros), outputBytes};
}

GraphDef encodeGraph(const Graph& graph) {
  wire::GraphDef proto;
  proto.mutable_versions()->set_producer(kProducer);
  for (const GraphNode& node : graph.nodes) {
    encodeNode(node, proto.add_node());
  }
  return {proto.SerializeAsString()};
}

TaggedRunMetadata encodeGraphStats(const Graph& graph, std::string tag) {
  wire::RunMetadata proto;
  std::map<std::string, wire::DeviceStepStats*> devices;
  for (const GraphNodeStats& stats : graph.stats) {
    wire::DeviceStepStats*& device = devices[stats.device];
    if (device == nullptr) {
      device = proto.mutable_step_stats()->add_dev_stats();
      device->set_device(detail::base::replaceInvalidUtf8(stats.device));
    }
    encodeStats(stats, device->add_node_stats());
  }
  return {std::move(tag), proto.SerializeAsString()};
}

}  // namespace steptape::event
