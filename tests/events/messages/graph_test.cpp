// SPDX-License-Identifier: Apache-2.0
#include "steptape/events/graph.h"

#include <string>
#include <string_view>

#include "support/expect_error.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

using test::expectInvalidArgument;
using ::testing::HasSubstr;
using ::testing::Not;

/// Bytes that may hold a zero.
template <std::size_t kSize>
std::string bytes(const char (&literal)[kSize]) {
  return std::string(literal, kSize - 1);
}

event::Graph graphOfOne(event::GraphNode node) {
  event::Graph graph;
  graph.nodes = {std::move(node)};
  return graph;
}

std::string encodedAttribute(const std::string& key, event::GraphAttribute value) {
  event::GraphNode node;
  node.attributes.emplace_back(key, std::move(value));
  return event::encodeGraph(graphOfOne(std::move(node))).bytes;
}

/// A graph of two nodes, of which the second reads the first.
event::Graph chain() {
  event::GraphNode weight;
  weight.name = "net/w";
  weight.op = "Parameter";
  weight.outputType = event::TensorType::kFloat;
  event::GraphNode product;
  product.name = "net/mm";
  product.op = "aten::mm";
  product.inputs = {"net/w"};
  product.device = "/device:CPU:0";
  event::Graph graph;
  graph.nodes = {weight, product};
  return graph;
}

// Golden bytes: the same message, made and serialized with the classes of tensorboard.compat.proto,
// TensorBoard 2.21.
TEST(GraphEncoder, WritesNodesAsTensorBoardsOwnClassesDo) {
  event::Graph graph = chain();
  graph.nodes[1].inputs = {"net/w", "x:1"};
  graph.nodes[1].outputShapes = {event::GraphShape{2, -1}, std::nullopt, event::GraphShape{}};
  EXPECT_EQ(
      event::encodeGraph(graph).bytes,
      bytes("\x0a\x1f\x0a\x05net/w\x12\x09Parameter*\x0b\x0a\x05"
            "dtype\x12\x02\x30\x01\x0a\x5c\x0a\x06net/mm\x12\x08"
            "aten::mm\x1a\x05net/w\x1a\x03x:1\"\x0d/device:CPU:0*-\x0a\x0e_output_shapes\x12\x1b"
            "\x0a\x19:\x11\x12\x02\x08\x02\x12\x0b\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01:"
            "\x02\x18\x01:\x00\"\x02\x08\x16"));
}

// Golden bytes, made the same way, of a NodeDef each.
TEST(GraphEncoder, WritesEachKindOfAttribute) {
  EXPECT_THAT(encodedAttribute("s", std::string("same")),
              HasSubstr(bytes("*\x0b\x0a\x01s\x12\x06\x12\x04same")));
  EXPECT_THAT(encodedAttribute("i", std::int64_t{-3}),
              HasSubstr(bytes("\x0a\x01i\x12\x0b\x18\xfd\xff\xff\xff\xff\xff\xff\xff\xff\x01")));
  EXPECT_THAT(encodedAttribute("f", 0.5), HasSubstr(bytes("\x0a\x01\x66\x12\x05%\x00\x00\x00?")));
  EXPECT_THAT(encodedAttribute("b", true), HasSubstr(bytes("\x0a\x01\x62\x12\x02(\x01")));
  EXPECT_THAT(encodedAttribute("t", event::TensorType::kInt32),
              HasSubstr(bytes("\x0a\x01t\x12\x02\x30\x03")));
  EXPECT_THAT(encodedAttribute("l", std::vector<std::int64_t>{1, 300}),
              HasSubstr(bytes("\x0a\x01l\x12\x07\x0a\x05\x1a\x03\x01\xac\x02")));
  EXPECT_THAT(encodedAttribute("l", std::vector<double>{0.5, 2}),
              HasSubstr(bytes("\x0a\x01l\x12\x0c\x0a\x0a\"\x08\x00\x00\x00?\x00\x00\x00@")));
  EXPECT_THAT(encodedAttribute("l", std::vector<std::string>{"a", "bc"}),
              HasSubstr(bytes("\x0a\x01l\x12\x09\x0a\x07\x12\x01\x61\x12\x02\x62\x63")));
}

TEST(GraphEncoder, ReplacesInvalidUtf8ForWhichReadersDiscardTheGraph) {
  event::GraphNode node;
  node.name = "caf\xe9";
  node.attributes.emplace_back("text", std::string("\xff"));
  const std::string encoded = event::encodeGraph(graphOfOne(node)).bytes;
  EXPECT_THAT(encoded, HasSubstr("caf\xef\xbf\xbd"));
  EXPECT_THAT(encoded, Not(HasSubstr("\xff")));
}

// Golden bytes, made the same way, of a RunMetadata.
TEST(GraphEncoder, WritesStatsAsTensorBoardsOwnClassesDo) {
  event::Graph graph = chain();
  graph.stats = {{"net/mm", "/device:CPU:0", 1000, 7, 64}};
  const event::TaggedRunMetadata metadata = event::encodeGraphStats(graph, "step1");
  EXPECT_EQ(metadata.tag, "step1");
  EXPECT_EQ(metadata.bytes, bytes("\x0a/\x0a-\x0a\x0d/device:CPU:0\x12\x1c\x0a\x06net/"
                                  "mm\x10\xe8\x07 \x07(\x07\x32\x0b\x0a\x07"
                                  "outputs\x10@"));
}

TEST(GraphEncoder, GathersTheStatsOfADevice) {
  event::Graph graph = chain();
  graph.stats = {{"net/w", "/device:CUDA:0", 1, 1, 0},
                 {"net/mm", "/device:CPU:0", 1, 1, 0},
                 {"net/mm", "/device:CUDA:0", 1, 1, 0}};
  const std::string encoded = event::encodeGraphStats(graph, "step1").bytes;
  EXPECT_EQ(encoded.find("CUDA"), encoded.rfind("CUDA"));
  EXPECT_LT(encoded.rfind("net/mm"), encoded.size());
}

TEST(GraphCheck, AcceptsNumberedAndControlInputs) {
  event::Graph graph = chain();
  graph.nodes[1].inputs = {"net/w", "net/w:3", "^net/w"};
  EXPECT_NO_THROW(event::checkGraph(graph));
}

TEST(GraphCheck, RefusesANodeWithoutAName) {
  event::Graph graph = chain();
  graph.nodes[1].name.clear();
  expectInvalidArgument([&] { event::checkGraph(graph); },
                        "graph: got node 1 (aten::mm) without a name; expected a name");
}

TEST(GraphCheck, RefusesTwoNodesOfOneName) {
  event::Graph graph = chain();
  graph.nodes[1].name = "net/w";
  expectInvalidArgument([&] { event::checkGraph(graph); },
                        "graph: got two nodes named \"net/w\"; expected unique names");
}

TEST(GraphCheck, RefusesAnEdgeFromNowhere) {
  event::Graph graph = chain();
  graph.nodes[1].inputs = {"net/v:1"};
  expectInvalidArgument(
      [&] { event::checkGraph(graph); },
      "graph: got input \"net/v:1\" of node \"net/mm\"; expected the name of a node");
}

TEST(GraphCheck, RejectsStatsOfAMissingNode) {
  event::Graph graph = chain();
  graph.stats = {{"net/add", "", 1, 1, 0}};
  expectInvalidArgument([&] { event::checkGraph(graph); },
                        "graph: got a measurement of \"net/add\"; expected the name of a node");
}

}  // namespace
}  // namespace steptape
