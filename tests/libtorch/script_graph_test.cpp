// SPDX-License-Identifier: Apache-2.0
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "steptape/base/status.h"
#include "steptape/libtorch/module_graph.h"

#include "libtorch/graph_queries.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/script.h>

namespace steptape {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::ThrowsMessage;
using ::testing::UnorderedElementsAre;

/// Returns a linear layer in TorchScript.
torch::jit::Module linear(std::int64_t inputs, std::int64_t outputs) {
  torch::jit::Module module("Linear");
  module.register_parameter("weight", torch::ones({outputs, inputs}), false);
  module.register_parameter("bias", torch::ones({outputs}), false);
  module.define("def forward(self, x):\n  return torch.linear(x, self.weight, self.bias)\n");
  return module;
}

/// Returns two layers, the second one inside a submodule.
torch::jit::Module twoLayers() {
  torch::jit::Module body("Body");
  body.register_module("second", linear(4, 2));
  body.define("def forward(self, x):\n  return torch.relu(self.second.forward(x))\n");
  torch::jit::Module net("Net");
  net.register_module("first", linear(3, 4));
  net.register_module("body", body);
  net.define(
      "def forward(self, x):\n"
      "  return self.body.forward(torch.tanh(self.first.forward(x)))\n");
  return net;
}

TEST(ScriptGraph, HasTheScopesOfTheModulesThatWereCalled) {
  const torch::jit::Module net = twoLayers();
  const event::Graph graph = graphOf(net, torch::ones({5, 3}));
  EXPECT_THAT(namesOf(graph, "aten::linear"),
              ElementsAre("Net/first[Linear]/linear", "Net/body[Body]/second[Linear]/linear"));
  // Neither reads parameters: only a script knows their module.
  EXPECT_THAT(namesOf(graph, "aten::relu"), ElementsAre("Net/body[Body]/relu"));
  EXPECT_THAT(namesOf(graph, "aten::tanh"), ElementsAre("Net/tanh"));
  EXPECT_THAT(graph.description, IsEmpty());
}

TEST(ScriptGraph, HasParametersInputsAndOutputs) {
  const torch::jit::Module net = twoLayers();
  const event::Graph graph = graphOf(net, torch::ones({5, 3}));
  EXPECT_THAT(namesOf(graph, "Parameter"),
              UnorderedElementsAre("Net/first[Linear]/weight", "Net/first[Linear]/bias",
                                   "Net/body[Body]/second[Linear]/weight",
                                   "Net/body[Body]/second[Linear]/bias"));
  EXPECT_THAT(nodeOf(graph, "Net/first[Linear]/linear").inputs,
              ElementsAre("input/x", "Net/first[Linear]/weight", "Net/first[Linear]/bias"));
  EXPECT_THAT(nodeOf(graph, "output/0").inputs, ElementsAre("Net/body[Body]/relu"));
}

TEST(ScriptGraph, HasTheShapesOfOneForwardPass) {
  const torch::jit::Module net = twoLayers();
  const event::Graph graph = graphOf(net, torch::ones({5, 3}));
  EXPECT_THAT(nodeOf(graph, "input/x").outputShapes, ElementsAre(event::GraphShape{5, 3}));
  EXPECT_THAT(nodeOf(graph, "Net/tanh").outputShapes, ElementsAre(event::GraphShape{5, 4}));
  EXPECT_EQ(nodeOf(graph, "Net/tanh").outputType, event::TensorType::kFloat);
  EXPECT_THAT(nodeOf(graph, "Net/body[Body]/relu").outputShapes,
              ElementsAre(event::GraphShape{5, 2}));
  EXPECT_THAT(nodeOf(graph, "output/0").outputShapes, ElementsAre(event::GraphShape{5, 2}));
}

TEST(ScriptGraph, IsTheSameAfterSavingAndLoading) {
  std::stringstream file;
  twoLayers().save(file);
  const torch::jit::Module loaded = torch::jit::load(file);
  const torch::jit::Module net = twoLayers();
  EXPECT_EQ(event::encodeGraph(graphOf(loaded, torch::ones({5, 3}))).bytes,
            event::encodeGraph(graphOf(net, torch::ones({5, 3}))).bytes);
}

TEST(ScriptGraph, MeasuresItsOperators) {
  const torch::jit::Module net = twoLayers();
  const event::Graph graph = graphOf(net, torch::ones({5, 3}), GraphOptions());
  std::vector<std::string> timed;
  for (const event::GraphNodeStats& stats : graph.stats) {
    EXPECT_GT(stats.durationMicros, 0);
    timed.push_back(stats.name);
  }
  EXPECT_THAT(timed, ElementsAre("Net/first[Linear]/linear", "Net/tanh",
                                 "Net/body[Body]/second[Linear]/linear", "Net/body[Body]/relu"));
}

TEST(ScriptGraph, HasScopesForBranches) {
  torch::jit::Module net("Net");
  net.define(
      "def forward(self, x):\n"
      "  if bool(x.sum() > 0):\n"
      "    y = torch.relu(x)\n"
      "  else:\n"
      "    y = torch.neg(x)\n"
      "  return torch.tanh(y)\n");
  const event::Graph graph = graphOf(net, torch::ones({3}));
  const event::GraphNode& branch = nodeOf(graph, "Net/if_1/If");
  EXPECT_EQ(branch.op, "prim::If");
  EXPECT_THAT(branch.inputs, Contains("Net/if_1/then/relu"));
  EXPECT_THAT(branch.inputs, Contains("Net/if_1/else/neg"));
  EXPECT_THAT(nodeOf(graph, "Net/tanh").inputs, ElementsAre("Net/if_1/If"));
  EXPECT_THAT(nodeOf(graph, "Net/if_1/then/relu").outputShapes, ElementsAre(event::GraphShape{3}));
  // This branch did not run.
  EXPECT_THAT(nodeOf(graph, "Net/if_1/else/neg").outputShapes, ElementsAre(std::nullopt));
}

TEST(ScriptGraph, ShowsTheBodyOfALoopOnce) {
  torch::jit::Module net("Net");
  net.register_module("cell", linear(3, 3));
  net.define(
      "def forward(self, x, times: int):\n"
      "  for i in range(times):\n"
      "    x = torch.tanh(self.cell.forward(x))\n"
      "  return x\n");
  const event::Graph graph = graphOf(net, std::make_tuple(torch::ones({1, 3}), std::int64_t{4}));
  EXPECT_THAT(namesOf(graph, "aten::linear"), ElementsAre("Net/loop_1/body/cell[Linear]/linear"));
  EXPECT_THAT(nodeOf(graph, "Net/loop_1/Loop").inputs, Contains("Net/loop_1/body/tanh"));
  EXPECT_THAT(nodeOf(graph, "output/0").inputs, ElementsAre("Net/loop_1/Loop"));
}

TEST(ScriptGraph, TakesAndReturnsDictionariesAndTuples) {
  torch::jit::Module net("Net");
  net.define(
      "def forward(self, x: Dict[str, Tensor], y: Tuple[Tensor, Tensor]):\n"
      "  return {'sum': x['a'] + y[1]}, y[0]\n");
  c10::Dict<std::string, torch::Tensor> dictionary;
  dictionary.insert("a", torch::ones({3}));
  const std::vector<c10::IValue> arguments{dictionary,
                                           std::make_tuple(torch::ones({1}), torch::ones({3}))};
  const event::Graph graph = graphOf(net, arguments);
  EXPECT_THAT(nodeOf(graph, "Net/add").inputs, ElementsAre("input/x.a", "input/y.1"));
  EXPECT_THAT(nodeOf(graph, "output/0.sum").inputs, ElementsAre("Net/add"));
  EXPECT_THAT(nodeOf(graph, "output/1").inputs, ElementsAre("input/y.0"));
}

TEST(ScriptGraph, TakesDefaultsOfForwardsArguments) {
  torch::jit::Module net("Net");
  net.define("def forward(self, x, factor: float = 3.0):\n  return x * factor\n");
  const event::Graph graph = graphOf(net, torch::ones({3}));
  EXPECT_THAT(nodeOf(graph, "Net/mul").attributes,
              Contains(Pair("other", event::GraphAttribute(3.0))));
}

TEST(ScriptGraph, LeavesBuffersAndRandomStateUnchanged) {
  torch::jit::Module net("Net");
  net.register_buffer("calls", torch::zeros({1}));
  net.define(
      "def forward(self, x):\n"
      "  self.calls.add_(1)\n"
      "  return torch.dropout(x, 0.5, True) + self.calls\n");
  torch::manual_seed(3);
  const torch::Tensor expected = torch::rand({2});
  const torch::Tensor input = torch::ones({4});
  torch::manual_seed(3);
  const event::Graph graph = graphOf(net, input, GraphOptions());
  EXPECT_TRUE(torch::equal(torch::rand({2}), expected));
  EXPECT_EQ(net.attr("calls").toTensor().item<float>(), 0);
  EXPECT_EQ(nodeOf(graph, "Net/calls").op, "Buffer");
}

TEST(ScriptGraph, CountsTheArguments) {
  const torch::jit::Module net = twoLayers();
  EXPECT_THAT([&] { graphOf(net, std::make_tuple(torch::ones({1}), torch::ones({1}))); },
              ThrowsMessage<Error>("addGraph: Net: got 2 arguments; expected 1 for forward()"));
}

TEST(ScriptGraph, RefusesAModuleWithoutForward) {
  const torch::jit::Module net("Net");
  EXPECT_THAT([&] { graphOf(net, torch::ones({1})); },
              ThrowsMessage<Error>("addGraph: Net: the module has no method forward()"));
}

}  // namespace
}  // namespace steptape
