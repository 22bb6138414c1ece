// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <variant>
#include <vector>

#include "steptape/log/summary_writer.h"
#include "steptape/ranks/testing.h"

#include "log/writer/run_contents.h"
#include "support/expect_error.h"

#include <gtest/gtest.h>

namespace steptape {
namespace {

using test::expectInvalidArgument;

event::Graph smallGraph() {
  event::GraphNode node;
  node.name = "net/mm";
  node.op = "aten::mm";
  node.outputShapes = {event::GraphShape{2, 3}};
  event::Graph graph;
  graph.nodes = {node};
  return graph;
}

template <typename What>
std::vector<event::Event> eventsWith(const std::string& directory) {
  std::vector<event::Event> found;
  for (event::Event& event : eventsIn(directory)) {
    if (std::holds_alternative<What>(event.what)) {
      found.push_back(std::move(event));
    }
  }
  return found;
}

TEST(AddGraph, WritesOneGraphDef) {
  const testing::TempDir dir;
  GraphOptions options;
  options.wallTime = 12.5;
  SummaryWriter writer(dir.string());
  writer.addGraph(smallGraph(), options);
  ASSERT_TRUE(writer.close().ok());

  const std::vector<event::Event> graphs = eventsWith<event::GraphDef>(dir.string());
  ASSERT_EQ(graphs.size(), 1U);
  EXPECT_EQ(graphs[0].wallTime, 12.5);
  EXPECT_EQ(std::get<event::GraphDef>(graphs[0].what).bytes,
            event::encodeGraph(smallGraph()).bytes);
  EXPECT_TRUE(eventsWith<event::TaggedRunMetadata>(dir.string()).empty());
  EXPECT_TRUE(valuesIn(dir.string()).empty());
}

TEST(AddGraph, WritesStatsUnderTheNameOfTheSessionRun) {
  const testing::TempDir dir;
  event::Graph graph = smallGraph();
  graph.stats = {{"net/mm", "/device:CPU:0", 1000, 7, 64}};
  GraphOptions options;
  options.sessionRun = "warm";
  SummaryWriter writer(dir.string());
  writer.addGraph(graph, options);
  ASSERT_TRUE(writer.close().ok());

  const std::vector<event::Event> stats = eventsWith<event::TaggedRunMetadata>(dir.string());
  ASSERT_EQ(stats.size(), 1U);
  const auto& metadata = std::get<event::TaggedRunMetadata>(stats[0].what);
  EXPECT_EQ(metadata.tag, "warm");
  EXPECT_EQ(metadata.bytes, event::encodeGraphStats(graph, "warm").bytes);
}

TEST(AddGraph, WritesTheDescriptionAsAText) {
  const testing::TempDir dir;
  event::Graph graph = smallGraph();
  graph.description = "Found *by chance*.";
  SummaryWriter writer(dir.string());
  writer.addGraph(graph);
  ASSERT_TRUE(writer.close().ok());

  const std::vector<event::Value> values = valuesIn(dir.string());
  ASSERT_EQ(values.size(), 1U);
  EXPECT_EQ(values[0].tag, "graph/description");
  EXPECT_EQ(values[0].metadata->pluginName, "text");
  EXPECT_EQ(std::get<event::Tensor>(values[0].data).strings,
            std::vector<std::string>{"Found *by chance*."});
}

TEST(AddGraph, RefusesABrokenGraphAndWritesNothing) {
  const testing::TempDir dir;
  event::Graph graph = smallGraph();
  graph.nodes[0].inputs = {"nowhere"};
  SummaryWriter writer(dir.string());
  expectInvalidArgument(
      [&] { writer.addGraph(graph); },
      "graph: got input \"nowhere\" of node \"net/mm\"; expected the name of a node");
  ASSERT_TRUE(writer.close().ok());
  EXPECT_TRUE(eventsWith<event::GraphDef>(dir.string()).empty());
}

}  // namespace
}  // namespace steptape

namespace {

struct Model {
  int nodes = 0;
};

}  // namespace

template <>
struct steptape::GraphTraits<Model> {
  template <typename Input>
  static event::Graph graph(const Model& model, const Input& input, const GraphOptions&) {
    event::Graph graph;
    for (int i = 0; i < model.nodes; ++i) {
      graph.nodes.emplace_back().name = input + std::to_string(i);
    }
    return graph;
  }
};

namespace steptape {
namespace {

TEST(AddGraph, AcceptsAModelWithGraphTraits) {
  const testing::TempDir dir;
  SummaryWriter writer(dir.string());
  writer.addGraph(Model{2}, std::string("layer"));
  ASSERT_TRUE(writer.close().ok());
  const std::vector<event::Event> graphs = eventsWith<event::GraphDef>(dir.string());
  ASSERT_EQ(graphs.size(), 1U);
  EXPECT_NE(std::get<event::GraphDef>(graphs[0].what).bytes.find("layer1"), std::string::npos);
}

TEST(AddGraph, DoesNotAskForTheGraphOfADisabledWriter) {
  WriterOptions options;
  options.enabled = false;
  SummaryWriter writer(options);
  EXPECT_NO_THROW(writer.addGraph(Model{1}, std::string()));  // a node without a name
}

}  // namespace
}  // namespace steptape
