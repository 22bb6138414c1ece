// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "steptape/base/status.h"
#include "steptape/libtorch/module_graph.h"
#include "steptape/log/summary_writer.h"
#include "steptape/ranks/testing.h"

#include "libtorch/graph_models.h"
#include "libtorch/graph_queries.h"
#include "log/writer/run_contents.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::StartsWith;

std::int64_t elementsOf(const event::Graph& graph) {
  std::int64_t elements = 0;
  for (const event::GraphNode& node : graph.nodes) {
    if (node.op == "Parameter") {
      std::int64_t size = 1;
      for (const std::int64_t dimension : node.outputShapes.at(0).value()) {
        size *= dimension;
      }
      elements += size;
    }
  }
  return elements;
}

std::int64_t elementsOf(const torch::nn::Module& module) {
  std::int64_t elements = 0;
  for (const torch::Tensor& parameter : module.parameters()) {
    elements += parameter.numel();
  }
  return elements;
}

torch::Tensor digits() {
  return torch::ones({2, 1, 28, 28});
}
torch::Tensor pictures() {
  return torch::ones({2, 3, 12, 12});
}

TEST(EagerGraph, HasTheModuleTreeForScopes) {
  LeNet net;
  const event::Graph graph = graphOf(net, digits());
  std::set<std::string> scopes;
  for (const event::GraphNode& node : graph.nodes) {
    scopes.insert(node.name.substr(0, node.name.rfind('/')));
  }
  EXPECT_THAT(scopes, ElementsAre("LeNet", "LeNet/conv1[Conv2d]", "LeNet/conv2[Conv2d]",
                                  "LeNet/fc1[Linear]", "LeNet/fc2[Linear]", "input", "output"));
  EXPECT_THAT(graph.description, IsEmpty());
}

TEST(EagerGraph, PutsAnOperatorIntoTheModuleWhoseParametersItReads) {
  LeNet net;
  const event::Graph graph = graphOf(net, digits());
  const event::GraphNode& product = nodeOf(graph, "LeNet/fc2[Linear]/addmm");
  EXPECT_EQ(product.op, "aten::addmm");
  EXPECT_THAT(product.inputs,
              ElementsAre("LeNet/fc2[Linear]/bias", "LeNet/relu_3", "LeNet/fc2[Linear]/t"));
  EXPECT_THAT(product.outputShapes, ElementsAre(event::GraphShape{2, 10}));
  EXPECT_EQ(product.outputType, event::TensorType::kFloat);
  EXPECT_EQ(product.device, "/device:CPU:0");
}

TEST(EagerGraph, HasConstantsForAttributes) {
  LeNet net;
  const event::Graph graph = graphOf(net, digits());
  const event::GraphNode& pool = nodeOf(graph, "LeNet/max_pool_1");
  EXPECT_EQ(pool.op, "aten::max_pool2d");
  EXPECT_THAT(pool.attributes,
              Contains(Pair("kernel_size", event::GraphAttribute(std::vector<std::int64_t>{2}))));
  EXPECT_THAT(pool.attributes, Contains(Pair("ceil_mode", event::GraphAttribute(false))));
  EXPECT_THAT(pool.inputs, ElementsAre("LeNet/relu_1"));
}

TEST(EagerGraph, HasAllParametersWithShapesAndTypes) {
  LeNet net;
  net.register_parameter("unused", torch::ones({5, 7}));
  const event::Graph graph = graphOf(net, digits());
  EXPECT_EQ(namesOf(graph, "Parameter").size(), net.parameters().size());
  EXPECT_EQ(elementsOf(graph), elementsOf(net));
  const event::GraphNode& weight = nodeOf(graph, "LeNet/conv2[Conv2d]/weight");
  EXPECT_THAT(weight.outputShapes, ElementsAre(event::GraphShape{16, 6, 5, 5}));
  EXPECT_EQ(weight.outputType, event::TensorType::kFloat);
  EXPECT_THAT(nodeOf(graph, "LeNet/unused").outputShapes, ElementsAre(event::GraphShape{5, 7}));
}

TEST(EagerGraph, HasInputsAndOutputs) {
  LeNet net;
  const event::Graph graph = graphOf(net, digits());
  EXPECT_THAT(nodeOf(graph, "input/0").outputShapes, ElementsAre(event::GraphShape{2, 1, 28, 28}));
  const event::GraphNode& output = nodeOf(graph, "output/0");
  EXPECT_THAT(output.inputs, ElementsAre("LeNet/log_softmax"));
  EXPECT_THAT(output.outputShapes, ElementsAre(event::GraphShape{2, 10}));
}

TEST(EagerGraph, StoresNoPayload) {
  torch::nn::Linear net(2000, 5000);
  EXPECT_LT(event::encodeGraph(graphOf(net, torch::ones({1, 2000}))).bytes.size(), 2000U);
}

TEST(EagerGraph, StoresNoPayloadOfTensorsThatAreNotParameters) {
  struct WithConstant : torch::nn::Module {
    torch::Tensor table = torch::ones({100, 100});
    torch::Tensor forward(const torch::Tensor& x) { return x.matmul(table) * 0.5; }
  } net;
  const event::Graph graph = graphOf(net, torch::ones({1, 100}));
  EXPECT_LT(event::encodeGraph(graph).bytes.size(), 2000U);
  EXPECT_THAT(nodeOf(graph, "WithConstant/constant").outputShapes,
              ElementsAre(event::GraphShape{100, 100}));
  EXPECT_THAT(nodeOf(graph, "WithConstant/mul").attributes,
              Contains(Pair("other", event::GraphAttribute(0.5))));
}

TEST(EagerGraph, ShowsResidualBlocksAsScopesOfOneShape) {
  ResNet net;
  const event::Graph graph = graphOf(net, pictures());
  const std::string block = "ResNet/blocks[Sequential]/1[Block]";
  EXPECT_THAT(nodeOf(graph, block + "/bn1[BatchNorm2d]/batch_norm").inputs,
              Contains(block + "/conv1[Conv2d]/convolution"));
  EXPECT_THAT(nodeOf(graph, block + "/relu").inputs,
              ElementsAre(block + "/bn1[BatchNorm2d]/batch_norm"));
  // Reads the block's output and its input, so that it is in the scope that contains both.
  EXPECT_THAT(nodeOf(graph, "ResNet/add_2").inputs,
              ElementsAre("ResNet/relu_2", block + "/bn2[BatchNorm2d]/batch_norm"));
}

TEST(EagerGraph, TakesAModelByEachKindOfHandle) {
  auto shared = std::make_shared<LeNet>();
  EXPECT_EQ(graphOf(shared, digits()).nodes.front().name, "LeNet/conv1[Conv2d]/weight");
  torch::nn::Sequential sequence(torch::nn::Linear(3, 2), torch::nn::ReLU());
  EXPECT_EQ(graphOf(sequence, torch::ones({1, 3})).nodes.front().name,
            "Sequential/0[Linear]/weight");
  torch::nn::AnyModule any(torch::nn::Linear(3, 2));
  EXPECT_EQ(graphOf(any, torch::ones({1, 3})).nodes.front().name, "Linear/weight");
}

TEST(EagerGraph, SpreadsATupleOverForwardsArguments) {
  TwoInputs net;
  const event::Graph graph =
      graphOf(net, std::make_tuple(torch::ones({2, 3}), torch::ones({2, 4})));
  EXPECT_THAT(nodeOf(graph, "TwoInputs/bilinear[Bilinear]/bilinear").inputs,
              AllOf(Contains("input/0"), Contains("input/1")));
  EXPECT_THAT(nodeOf(graph, "input/1").outputShapes, ElementsAre(event::GraphShape{2, 4}));
}

TEST(EagerGraph, PassesATupleToAForwardThatTakesOne) {
  struct TakesTuple : torch::nn::Module {
    torch::Tensor forward(const std::tuple<torch::Tensor, torch::Tensor>& pair) {
      return std::get<0>(pair) + std::get<1>(pair);
    }
  } net;
  const event::Graph graph = graphOf(net, std::make_tuple(torch::ones({2}), torch::ones({2})));
  EXPECT_THAT(nodeOf(graph, "TakesTuple/add").inputs, ElementsAre("input/0", "input/1"));
}

TEST(EagerGraph, NumbersTheOutputsOfAnOperator) {
  TwoInputs net;
  const event::Graph graph =
      graphOf(net, std::make_tuple(torch::ones({2, 3}), torch::ones({2, 4})));
  EXPECT_THAT(nodeOf(graph, "output/1.0").inputs, ElementsAre("TwoInputs/chunk"));
  EXPECT_THAT(nodeOf(graph, "output/1.2").inputs, ElementsAre("TwoInputs/chunk:2"));
  EXPECT_THAT(
      nodeOf(graph, "TwoInputs/chunk").outputShapes,
      ElementsAre(event::GraphShape{2, 1}, event::GraphShape{2, 1}, event::GraphShape{2, 1}));
}

TEST(EagerGraph, TakesAndReturnsDictionaries) {
  Dictionaries net;
  const event::Graph graph =
      graphOf(net, Tensors{{"image", torch::ones({2, 3})}, {"mask", torch::ones({2, 2})}});
  EXPECT_THAT(nodeOf(graph, "Dictionaries/mul").inputs,
              ElementsAre("Dictionaries/fc[Linear]/addmm", "input/mask"));
  EXPECT_THAT(nodeOf(graph, "output/best").inputs, ElementsAre("Dictionaries/argmax"));
  EXPECT_THAT(nodeOf(graph, "output/scores").inputs, ElementsAre("Dictionaries/mul"));
}

TEST(EagerGraph, NumbersTheCallsOfALoopAsTensorBoardFoldsThem) {
  Loop net(6);
  const event::Graph graph = graphOf(net, torch::ones({1, 3}));
  EXPECT_THAT(namesOf(graph, "aten::addmm"),
              ElementsAre("Loop/cell[Linear]/addmm_1", "Loop/cell[Linear]/addmm_2",
                          "Loop/cell[Linear]/addmm_3", "Loop/cell[Linear]/addmm_4",
                          "Loop/cell[Linear]/addmm_5", "Loop/cell[Linear]/addmm_6"));
  EXPECT_EQ(namesOf(graph, "Parameter").size(), 2U);
}

TEST(EagerGraph, NamesScopesByZones) {
  Attention net;
  const event::Graph graph = graphOf(net, torch::ones({1, 4, 8}));
  EXPECT_EQ(nodeOf(graph, "Attention/attention/softmax").op, "aten::softmax");
  EXPECT_THAT(namesOf(graph, "aten::matmul"), AllOf(Contains("Attention/attention/matmul_1"),
                                                    Contains("Attention/attention/matmul_2"),
                                                    Contains("Attention/query[Linear]/matmul")));
}

TEST(EagerGraph, PutsWholeModulesIntoTheZoneThatTheyRunIn) {
  Attention net;
  const event::Graph graph = graphOf(net, torch::ones({1, 4, 8}));
  EXPECT_THAT(nodeOf(graph, "Attention/feed forward/relu").inputs,
              ElementsAre("Attention/feed forward/hidden[Linear]/add"));
  EXPECT_EQ(nodeOf(graph, "Attention/feed forward/out[Linear]/weight").op, "Parameter");
}

TEST(EagerGraph, KeepsWhatRanInAZoneInTheModuleThatTheZoneIsAbout) {
  torch::nn::Sequential net(ZonedBlock(4), ZonedBlock(4));
  const event::Graph graph = graphOf(net, torch::ones({1, 4, 8, 8}));
  EXPECT_EQ(nodeOf(graph, "Sequential/0[ZonedBlock]/block/relu_2").op, "aten::relu");
  EXPECT_THAT(nodeOf(graph, "Sequential/1[ZonedBlock]/block/add").inputs,
              Contains("Sequential/0[ZonedBlock]/block/relu_2"));
  EXPECT_EQ(nodeOf(graph, "Sequential/1[ZonedBlock]/block/bn1[BatchNorm2d]/weight").op,
            "Parameter");
}

TEST(EagerGraph, LeavesATrainedModelAndTheRandomStateUnchanged) {
  ResNet net;
  net->train();
  net->forward(pictures()).sum().backward();
  std::vector<torch::Tensor> before;
  for (const torch::Tensor& buffer : net->buffers()) {
    before.push_back(buffer.clone());
  }
  const torch::Tensor gradient = net->head->weight.grad();
  torch::manual_seed(7);
  const torch::Tensor expected = torch::rand({3});
  torch::manual_seed(7);
  GraphOptions measured;
  const event::Graph graph = graphOf(net, torch::rand({2, 3, 12, 12}), measured);
  torch::manual_seed(7);
  const torch::Tensor input = pictures();
  graphOf(net, input, measured);

  EXPECT_TRUE(torch::equal(torch::rand({3}), expected));
  ASSERT_THAT(namesOf(graph, "aten::dropout"), ElementsAre("ResNet/dropout"));
  for (std::size_t i = 0; i < before.size(); ++i) {
    EXPECT_TRUE(torch::equal(net->buffers()[i], before[i])) << "buffer " << i;
  }
  EXPECT_TRUE(net->head->weight.grad().is_same(gradient));
  EXPECT_TRUE(net->is_training());
  EXPECT_TRUE(torch::GradMode::is_enabled());
}

TEST(EagerGraph, UndoesWhatForwardDoesToItsInputGradientsAndMode) {
  struct Rude : torch::nn::Module {
    torch::nn::Linear fc{register_module("fc", torch::nn::Linear(2, 1))};
    torch::Tensor forward(torch::Tensor x) {
      fc->forward(x).sum().backward();
      x.mul_(2);
      eval();
      torch::GradMode::set_enabled(false);
      return fc->forward(x);
    }
  } net;
  GraphOptions measured;
  const torch::Tensor input = torch::ones({1, 2});
  graphOf(net, input, measured);
  EXPECT_TRUE(torch::equal(input, torch::ones({1, 2})));
  EXPECT_FALSE(net.fc->weight.grad().defined());
  EXPECT_TRUE(net.is_training());
  EXPECT_TRUE(net.fc->is_training());
  EXPECT_TRUE(torch::GradMode::is_enabled());
}

TEST(EagerGraph, MeasuresItsOperators) {
  LeNet net;
  GraphOptions measured;
  const event::Graph graph = graphOf(net, digits(), measured);
  std::set<std::string> timed;
  for (const event::GraphNodeStats& stats : graph.stats) {
    EXPECT_GT(stats.durationMicros, 0);
    EXPECT_GT(stats.startMicros, 0);
    EXPECT_EQ(stats.device, "/device:CPU:0");
    timed.insert(stats.name);
  }
  for (const event::GraphNode& node : graph.nodes) {
    const bool isOperator = node.op.rfind("aten::", 0) == 0;
    EXPECT_EQ(timed.count(node.name), isOperator ? 1U : 0U) << node.name;
  }
  const auto linear = std::find_if(graph.stats.begin(), graph.stats.end(), [](const auto& stats) {
    return stats.name == "LeNet/fc2[Linear]/addmm";
  });
  ASSERT_NE(linear, graph.stats.end());
  EXPECT_EQ(linear->outputBytes, 2 * 10 * 4);
}

TEST(EagerGraph, TakesTimesOfAProfileInsteadOfMeasuring) {
  LeNet net;
  GraphOptions options;
  options.operatorTimes = {{"aten::addmm", std::chrono::milliseconds(3)}};
  const event::Graph graph = graphOf(net, digits(), options);
  ASSERT_EQ(graph.stats.size(), 2U);
  EXPECT_EQ(graph.stats[1].name, "LeNet/fc2[Linear]/addmm");
  EXPECT_EQ(graph.stats[1].durationMicros, 3000);
  EXPECT_EQ(graph.stats[1].startMicros, graph.stats[0].startMicros + 3000);
  EXPECT_THAT(graph.description, StartsWith("Times are known of 2 of "));
}

TEST(EagerGraph, SaysThatItCannotSeeTheOutput) {
  struct Sum {
    torch::Tensor value;
  };
  struct ReturnsStruct : torch::nn::Module {
    Sum forward(const torch::Tensor& x) { return {x.sum()}; }
  } net;
  const event::Graph graph = graphOf(net, torch::ones({3}));
  EXPECT_THAT(graph.description, HasSubstr("TensorTree"));
  EXPECT_THAT(nodeOf(graph, "ReturnsStruct/sum").inputs, ElementsAre("input/0"));
}

TEST(AddGraph, WritesAModelsGraphWithItsStats) {
  const testing::TempDir dir;
  LeNet net;
  SummaryWriter writer(dir.string());
  writer.addGraph(net, digits());
  ASSERT_TRUE(writer.close().ok());
  std::vector<std::string> found;
  for (const event::Event& event : eventsIn(dir.string())) {
    if (const auto* graph = std::get_if<event::GraphDef>(&event.what)) {
      found.push_back("graph");
      EXPECT_EQ(graph->bytes, event::encodeGraph(graphOf(net, digits())).bytes);
    } else if (const auto* stats = std::get_if<event::TaggedRunMetadata>(&event.what)) {
      found.push_back(stats->tag);
      EXPECT_THAT(stats->bytes, HasSubstr("LeNet/fc2[Linear]/addmm"));
    }
  }
  EXPECT_THAT(found, ElementsAre("graph", "step1"));
}

TEST(EagerGraph, NamesTheModelWhoseForwardFails) {
  Failing net;
  EXPECT_THAT([&] { graphOf(net, torch::ones({1})); },
              ::testing::ThrowsMessage<Error>("addGraph: Failing: forward() failed: out of luck"));
}

}  // namespace
}  // namespace steptape
