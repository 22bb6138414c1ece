// SPDX-License-Identifier: Apache-2.0
#include "values/kinds/graph/onnx_graph.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include "support/expect_error.h"
#include "values/kinds/graph/graph_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape {
namespace {

using test::expectInvalidArgument;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

event::Graph goldenGraph(const std::string& name) {
  event::Graph graph = detail::values::onnxGraph(
      detail::events::readOnnxModel(STEPTAPE_SOURCE_DIR "/tests/golden/" + name));
  EXPECT_NO_THROW(event::checkGraph(graph));
  return graph;
}

const event::GraphNode& nodeOf(const event::Graph& graph, std::string_view name) {
  const auto found = std::find_if(graph.nodes.begin(), graph.nodes.end(),
                                  [&](const event::GraphNode& node) { return node.name == name; });
  if (found == graph.nodes.end()) {
    throw Error(ErrorCode::kInvalidArgument, "no node " + std::string(name));
  }
  return *found;
}

std::size_t countOp(const event::Graph& graph, const std::string& op) {
  return static_cast<std::size_t>(
      std::count_if(graph.nodes.begin(), graph.nodes.end(),
                    [&](const event::GraphNode& node) { return node.op == op; }));
}

std::vector<std::string> namesIn(const event::Graph& graph) {
  std::vector<std::string> names;
  for (const event::GraphNode& node : graph.nodes) {
    names.push_back(node.name);
  }
  return names;
}

detail::events::OnnxNode onnxNode(std::string name, std::string op, std::vector<std::string> inputs,
                                  std::vector<std::string> outputs) {
  return {std::move(name), std::move(op), "", std::move(inputs), std::move(outputs), {}};
}

detail::events::OnnxModel modelOf(detail::events::OnnxGraph graph) {
  detail::events::OnnxModel model;
  model.source = "m";
  model.graph = std::move(graph);
  return model;
}

// Counts from the package onnx 1.23.2; see tests/golden/README.md.
TEST(OnnxGraph, HasEveryNodeOfAResNet) {
  const event::Graph graph = goldenGraph("resnet.onnx");
  EXPECT_EQ(countOp(graph, "Initializer"), 22U);
  EXPECT_EQ(countOp(graph, "Input"), 1U);
  EXPECT_EQ(countOp(graph, "Output"), 1U);
  EXPECT_EQ(graph.nodes.size(), 27U + 22U + 1U + 1U);
}

TEST(OnnxGraph, TurnsModulesIntoScopes) {
  const event::Graph graph = goldenGraph("resnet.onnx");
  EXPECT_THAT(nodeOf(graph, "layer1/layer1.0/relu/Relu").inputs,
              ElementsAre("layer1/layer1.0/conv1/Conv"));
  EXPECT_THAT(nodeOf(graph, "layer1/layer1.0/Add").inputs,
              ElementsAre("layer1/layer1.0/conv2/Conv", "maxpool/MaxPool"));
  EXPECT_THAT(nodeOf(graph, "fc/Gemm").inputs, ElementsAre("Flatten", "fc/weight", "fc/bias"));
  EXPECT_THAT(nodeOf(graph, "output/logits").inputs, ElementsAre("fc/Gemm"));
  EXPECT_EQ(
      graph.description,
      "Read from an ONNX model made by pytorch 2.13.0: IR version 8, operators of ai.onnx 17.");
}

TEST(OnnxGraph, KeepsShapesTypesAndAttributes) {
  const event::Graph graph = goldenGraph("resnet.onnx");
  const event::GraphNode& weight = nodeOf(graph, "conv1/weight");
  EXPECT_THAT(weight.outputShapes, ElementsAre(event::GraphShape{4, 3, 3, 3}));
  EXPECT_EQ(weight.outputType, event::TensorType::kFloat);
  EXPECT_THAT(nodeOf(graph, "input/image").outputShapes,
              ElementsAre(event::GraphShape{-1, 3, 16, 16}));
  EXPECT_THAT(nodeOf(graph, "fc/Gemm").outputShapes, ElementsAre(event::GraphShape{-1, 10}));
  const event::GraphNode& conv = nodeOf(graph, "conv1/Conv");
  EXPECT_THAT(conv.outputShapes, IsEmpty()) << "the file does not have it";
  ASSERT_EQ(conv.attributes.size(), 5U);
  EXPECT_EQ(conv.attributes[2].first, "kernel_shape");
  EXPECT_THAT(std::get<std::vector<std::int64_t>>(conv.attributes[2].second), ElementsAre(3, 3));
}

TEST(OnnxGraph, ShowsTheNameOfATypeThatTensorFlowDoesNotHave) {
  const event::Graph graph = goldenGraph("low_bit.onnx");
  for (const char* const name : {"FLOAT6E2M3/stored", "FLOAT6E2M3/cast"}) {
    const event::GraphNode& node = nodeOf(graph, name);
    ASSERT_FALSE(node.attributes.empty()) << name;
    EXPECT_EQ(node.attributes[0].first, "dtype");
    EXPECT_EQ(std::get<std::string>(node.attributes[0].second), "FLOAT6E2M3");
  }
  EXPECT_THAT(nodeOf(graph, "INT2/stored").attributes, IsEmpty()) << "DT_INT2";
  EXPECT_THAT(nodeOf(graph, "INT2/stored").outputShapes, ElementsAre(event::GraphShape{5}));
}

TEST(OnnxGraph, TurnsTheGraphsOfLoopsAndBranchesIntoScopes) {
  const event::Graph graph = goldenGraph("control_flow.onnx");
  EXPECT_EQ(graph.nodes.size() - countOp(graph, "Input") - countOp(graph, "Output"), 12U);
  EXPECT_THAT(nodeOf(graph, "Loop/body/input/x.31").inputs, ElementsAre("input/x"));
  EXPECT_THAT(nodeOf(graph, "Loop/body/If/then_branch/Mul").inputs,
              ElementsAre("Loop/body/input/x.31", "Loop/body/If/then_branch/Constant_2"));
  EXPECT_THAT(nodeOf(graph, "Loop/body/If").inputs,
              ElementsAre("Loop/body/Cast", "Loop/body/If/then_branch/Mul",
                          "Loop/body/If/else_branch/Sub"));
  EXPECT_THAT(nodeOf(graph, "Loop").inputs,
              ElementsAre("input/n", "Constant", "input/x", "Loop/body/Identity", "Loop/body/If"));
  EXPECT_THAT(nodeOf(graph, "Loop").attributes, IsEmpty());
}

TEST(OnnxGraph, NumbersTheOutputsOfANode) {
  detail::events::OnnxGraph graph;
  graph.inputs = {{"x", event::TensorType::kFloat, event::GraphShape{4}}};
  graph.nodes = {onnxNode("split", "Split", {"x", ""}, {"a", "", "c"}),
                 onnxNode("add", "Add", {"a", "c"}, {"y"})};
  graph.valueInfos = {{"c", event::TensorType::kFloat, event::GraphShape{2}}};
  const event::Graph shown = detail::values::onnxGraph(modelOf(graph));
  EXPECT_THAT(nodeOf(shown, "split").inputs, ElementsAre("input/x"));
  EXPECT_THAT(nodeOf(shown, "split").outputShapes,
              ElementsAre(std::nullopt, std::nullopt, event::GraphShape{2}));
  EXPECT_THAT(nodeOf(shown, "add").inputs, ElementsAre("split", "split:2"));
}

TEST(OnnxGraph, NamesNodesThatHaveNoName) {
  detail::events::OnnxGraph graph;
  graph.nodes = {onnxNode("", "Relu", {}, {"a"}), onnxNode("Relu_0", "Relu", {}, {"b"}),
                 onnxNode("/", "Relu", {}, {"c"}), onnxNode("", "Add", {"a", "b"}, {"d"}),
                 onnxNode("", "", {}, {})};
  EXPECT_THAT(namesIn(detail::values::onnxGraph(modelOf(graph))),
              ElementsAre("Relu_1", "Relu_0", "Relu_2", "Add_0", "unnamed_0"));
}

TEST(OnnxGraph, GivesEachNodeAUniqueName) {
  detail::events::OnnxGraph graph;
  // PyTorch's own reader shows an output and its node under one name.
  graph.inputs = {{"x", event::TensorType::kFloat, event::GraphShape{}}};
  graph.outputs = {{"y", event::TensorType::kFloat, event::GraphShape{}}};
  graph.initializers = {{"y/w", event::TensorType::kFloat, event::GraphShape{}}};
  graph.nodes = {onnxNode("y", "Relu", {"x"}, {"b"}), onnxNode("/y", "Relu", {"b"}, {"c"}),
                 onnxNode("y/w", "Mul", {"c", "y/w"}, {"d"}),
                 onnxNode("output/y", "Neg", {"d"}, {"y"})};
  const event::Graph shown = detail::values::onnxGraph(modelOf(graph));
  EXPECT_NO_THROW(event::checkGraph(shown));
  EXPECT_THAT(nodeOf(shown, "y_1").inputs, ElementsAre("y"));
  EXPECT_THAT(nodeOf(shown, "y/w").inputs, ElementsAre("y_1", "y/y/w"));
  EXPECT_THAT(nodeOf(shown, "output/y_1").inputs, ElementsAre("output/y"));
}

TEST(OnnxGraph, PutsAnInitializerIntoTheScopeOfItsReaders) {
  detail::events::OnnxGraph graph;
  graph.initializers = {{"net.a.weight"}, {"shared"}, {"net.a.unread"}, {"onnx::Conv_7"}};
  graph.nodes = {onnxNode("net/a/Conv", "Conv", {"net.a.weight", "onnx::Conv_7"}, {"x"}),
                 onnxNode("net/a/b/Mul", "Mul", {"shared", "x"}, {"y"}),
                 onnxNode("net/ab/Mul", "Mul", {"shared", "y"}, {"z"})};
  EXPECT_THAT(namesIn(detail::values::onnxGraph(modelOf(graph))),
              ElementsAre("net/a/weight", "net/shared", "net.a.unread", "net/a/onnx_Conv_7",
                          "net/a/Conv", "net/a/b/Mul", "net/ab/Mul"));
}

TEST(OnnxGraph, ShowsAnInitializerThatIsAlsoAnInputOnce) {
  detail::events::OnnxGraph graph;
  graph.inputs = {{"w", event::TensorType::kFloat, event::GraphShape{2}}};
  graph.initializers = graph.inputs;
  EXPECT_THAT(namesIn(detail::values::onnxGraph(modelOf(graph))), ElementsAre("w"));
}

TEST(OnnxGraph, NamesTheDomainOfForeignOperators) {
  detail::events::OnnxGraph graph;
  graph.nodes = {onnxNode("a", "Gelu", {}, {}), onnxNode("b", "Gelu", {}, {})};
  graph.nodes[0].domain = "com.microsoft";
  graph.nodes[1].domain = "ai.onnx";
  const event::Graph shown = detail::values::onnxGraph(modelOf(graph));
  EXPECT_EQ(nodeOf(shown, "a").op, "com.microsoft::Gelu");
  EXPECT_EQ(nodeOf(shown, "b").op, "Gelu");
}

TEST(OnnxGraph, RefusesAValueThatNothingMakes) {
  detail::events::OnnxGraph graph;
  graph.nodes = {onnxNode("relu", "Relu", {"x"}, {"y"})};
  expectInvalidArgument([&] { detail::values::onnxGraph(modelOf(graph)); },
                        "addOnnxGraph \"m\": got the node \"relu\" that reads \"x\"; expected a "
                        "value that a node, an input or an initializer provides");
  graph.nodes.clear();
  graph.outputs = {{"y"}};
  expectInvalidArgument([&] { detail::values::onnxGraph(modelOf(graph)); },
                        "addOnnxGraph \"m\": got the output \"y\" that reads \"y\"; expected a "
                        "value that a node, an input or an initializer provides");
}

TEST(GraphNames, KeepWhatCannotBeMistakenForAnEdge) {
  EXPECT_EQ(detail::values::nodeNameOf("/layer1/layer1.0//conv/"), "layer1/layer1.0/conv");
  EXPECT_EQ(detail::values::nodeNameOf("onnx::Conv_7"), "onnx_Conv_7");
  EXPECT_EQ(detail::values::nodeNameOf("x:0"), "x_0");
  EXPECT_EQ(detail::values::nodeNameOf("^x^"), "_x^");
  EXPECT_EQ(detail::values::nodeNameOf("\xFF"), "\uFFFD");
  EXPECT_EQ(detail::values::nodeNameOf("//"), "");
}

TEST(GraphNames, FindTheScopeThatTwoNamesShare) {
  EXPECT_EQ(detail::values::commonScope("a/b", "a/b/c"), "a/b");
  EXPECT_EQ(detail::values::commonScope("a/b/c", "a/b"), "a/b");
  EXPECT_EQ(detail::values::commonScope("a/b", "a/bc"), "a");
  EXPECT_EQ(detail::values::commonScope("a", "b"), "");
}

TEST(GraphNames, AreGivenOutOnce) {
  detail::values::NodeNames names;
  EXPECT_EQ(names.claim("a"), "a");
  EXPECT_EQ(names.claim("a_1"), "a_1");
  EXPECT_EQ(names.claim("a"), "a_2");
  EXPECT_EQ(names.claim("a"), "a_3");
  EXPECT_EQ(names.claimNumbered("b"), "b_0");
  EXPECT_EQ(names.claimNumbered("b"), "b_1");
}

}  // namespace
}  // namespace steptape
