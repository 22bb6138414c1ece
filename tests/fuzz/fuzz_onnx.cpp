// SPDX-License-Identifier: Apache-2.0
// Fuzzes bytes as an ONNX file.
#include <string_view>

#include "steptape/base/error.h"

#include "base/utf8.h"
#include "fuzz/fuzz_input.h"
#include "values/kinds/graph/onnx_graph.h"

namespace steptape {
namespace {

std::size_t operatorsOf(const OnnxGraph& graph) {
  std::size_t count = graph.nodes.size();
  for (const OnnxNode& node : graph.nodes) {
    for (const OnnxAttribute& attribute : node.attributes) {
      for (const OnnxGraph& inner : attribute.graphs) {
        count += operatorsOf(inner);
      }
    }
  }
  return count;
}

void checkShown(const OnnxModel& model, const event::Graph& graph) {
  require(graph.nodes.size() >= operatorsOf(model.graph), "every operator is a node");
  for (const event::GraphNode& node : graph.nodes) {
    require(isValidUtf8(node.name), "names of nodes are UTF-8");
  }
  try {
    event::checkGraph(graph);
  } catch (const Error& error) {
    require(false, error.what());
  }
  require(!event::encodeGraph(graph).bytes.empty(), "a graph has an encoding");
}

void readModel(std::string_view bytes) {
  try {
    const OnnxModel model = parseOnnxModel(bytes, "fuzz");
    checkShown(model, onnxGraph(model));
  } catch (const Error&) {
    // Most bytes are not models.
  }
}

}  // namespace
}  // namespace steptape

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  steptape::readModel({reinterpret_cast<const char*>(data), size});
  return 0;
}
