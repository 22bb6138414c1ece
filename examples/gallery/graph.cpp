// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <utility>
#include <vector>

#include "gallery.h"

/// An attention head, built node by node. A '/' in a name starts a scope, which the page can fold.
void logGraph(steptape::SummaryWriter& writer) {
  steptape::event::Graph graph;
  const auto add = [&](const std::string& name, const std::string& op,
                       std::vector<std::string> inputs, steptape::event::GraphShape shape) {
    graph.nodes.push_back({.name = name,
                           .op = op,
                           .inputs = std::move(inputs),
                           .device = "/device:CPU:0",
                           .outputShapes = {std::move(shape)},
                           .outputType = steptape::event::TensorType::kFloat});
    graph.stats.push_back({.name = name,
                           .device = "/device:CPU:0",
                           .startMicros = static_cast<std::int64_t>(100 * graph.stats.size()),
                           .durationMicros = op == "MatMul" ? 90 : 20,
                           .outputBytes = op == "MatMul" ? 1 << 16 : 1 << 12});
  };
  add("tokens", "Input", {}, {32, 128, 64});
  for (const std::string part : {"query", "key", "value"}) {
    add("attention/" + part + "/weight", "Parameter", {}, {64, 64});
    add("attention/" + part + "/matmul", "MatMul", {"tokens", "attention/" + part + "/weight"},
        {32, 128, 64});
  }
  add("attention/scores/matmul", "MatMul", {"attention/query/matmul", "attention/key/matmul"},
      {32, 128, 128});
  add("attention/scores/scale", "Mul", {"attention/scores/matmul"}, {32, 128, 128});
  add("attention/scores/softmax", "Softmax", {"attention/scores/scale"}, {32, 128, 128});
  add("attention/matmul", "MatMul", {"attention/scores/softmax", "attention/value/matmul"},
      {32, 128, 64});
  add("residual", "Add", {"tokens", "attention/matmul"}, {32, 128, 64});
  add("output", "Output", {"residual"}, {32, 128, 64});
  writer.addGraph(graph);
}
