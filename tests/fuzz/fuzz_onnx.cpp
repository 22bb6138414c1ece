// SPDX-License-Identifier: Apache-2.0
// Fuzzes bytes as an ONNX file.
#include <string_view>

#include "steptape/base/status.h"

#include "base/utf8.h"
#include "fuzz/fuzz_input.h"
#include "values/kinds/graph/onnx_graph.h"

namespace steptape {
namespace {

std::size_t operatorsOf(const detail::events::OnnxGraph& graph) {
  std::size_t count = graph.nodes.size();
  for (const detail::events::OnnxNode& node : graph.nodes) {
    for (const detail::events::OnnxAttribute& attribute : node.attributes) {
      for (const detail::events::OnnxGraph& inner : attribute.graphs) {
        count += operatorsOf(inner);
      }
    }
  }
  return count;
}

void checkShown(const detail::events::OnnxModel& model, const event::Graph& graph) {
  require(graph.nodes.size() >= operatorsOf(model.graph), "every operator is a node");
  for (const event::GraphNode& node : graph.nodes) {
    require(detail::base::isValidUtf8(node.name), "names of nodes are UTF-8");
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
    const detail::events::OnnxModel model = detail::events::parseOnnxModel(bytes, "fuzz");
    checkShown(model, detail::values::onnxGraph(model));
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
