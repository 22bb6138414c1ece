// SPDX-License-Identifier: Apache-2.0
// Graphs of eager modules: their operators and edges, compared with those of LibTorch's tracer.

#include <algorithm>
#include <exception>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "steptape/base/status.h"
#include "steptape/libtorch/module_graph.h"

#include "libtorch/graph_models.h"
#include "libtorch/graph_queries.h"

#include <ATen/autocast_mode.h>
#include <ATen/record_function.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/csrc/jit/frontend/tracer.h>
#include <torch/csrc/jit/ir/constants.h>
#include <torch/library.h>
#include <torch/torch.h>

namespace steptape {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;

namespace jit = ::torch::jit;

/// An operator, and the operators that made its inputs; "tensor" for one that no operator made.
using Operator = std::pair<std::string, std::multiset<std::string>>;

template <typename Model>
std::shared_ptr<jit::Graph> tracedGraph(Model& model, const torch::Tensor& input) {
  for (torch::Tensor& parameter : model.parameters()) {
    parameter.requires_grad_(false);  // is a constant of the graph
  }
  return jit::tracer::trace(
             {input},
             [&](const jit::Stack& inputs) {
               return jit::Stack{model.forward(inputs[0].toTensor())};
             },
             [](const at::Tensor&) { return std::string(); })
      .first->graph;
}

std::multiset<Operator> operatorsOf(jit::Graph& graph) {
  std::multiset<Operator> operators;
  std::map<const jit::Value*, std::multiset<std::string>> sources;
  for (const jit::Value* input : graph.inputs()) {
    sources[input] = {"tensor"};
  }
  for (jit::Node* node : graph.nodes()) {
    std::multiset<std::string> made;
    for (const jit::Value* input : node->inputs()) {
      made.insert(sources[input].begin(), sources[input].end());
    }
    if (node->kind().is_aten()) {
      operators.insert({node->kind().toQualString(), made});
      made = {node->kind().toQualString()};
    } else if (node->kind() == c10::prim::Constant) {
      const auto value = jit::toIValue(node->output());
      if (value && value->isTensor() && value->toTensor().dim() > 0) {
        made = {"tensor"};
      }
    }
    for (const jit::Value* output : node->outputs()) {
      sources[output] = made;
    }
  }
  return operators;
}

std::multiset<Operator> operatorsOf(const event::Graph& graph) {
  std::multiset<Operator> operators;
  for (const event::GraphNode& node : graph.nodes) {
    if (node.op.rfind("aten::", 0) == 0) {
      std::multiset<std::string> made;
      for (const std::string& input : node.inputs) {
        const std::string& op = nodeOf(graph, input.substr(0, input.find(':'))).op;
        made.insert(op.rfind("aten::", 0) == 0 ? op : "tensor");
      }
      operators.insert({node.op, made});
    }
  }
  return operators;
}

template <typename Model>
void expectTracedGraph(Model& model, const torch::Tensor& input) {
  const event::Graph graph = graphOf(model, input);
  EXPECT_THAT(graph.description, IsEmpty());
  const std::multiset<Operator> operators = operatorsOf(graph);
  EXPECT_THAT(operators, Not(IsEmpty()));
  EXPECT_EQ(operators, operatorsOf(*tracedGraph(model, input)));
}

struct Recurrent : torch::nn::Module {
  torch::nn::LSTM lstm{register_module(
      "lstm", torch::nn::LSTM(torch::nn::LSTMOptions(4, 5).num_layers(2).bidirectional(true)))};
  torch::nn::GRU gru{register_module("gru", torch::nn::GRU(10, 3))};
  torch::nn::Linear head{register_module("head", torch::nn::Linear(3, 2))};

  torch::Tensor forward(const torch::Tensor& x) {
    const torch::Tensor y = std::get<0>(lstm->forward(x));
    return head->forward(std::get<0>(gru->forward(y))[-1]);
  }
};

struct Cells : torch::nn::Module {
  torch::nn::LSTMCell lstm{register_module("lstm", torch::nn::LSTMCell(4, 4))};
  torch::nn::GRUCell gru{register_module("gru", torch::nn::GRUCell(4, 4))};
  torch::nn::RNNCell rnn{register_module("rnn", torch::nn::RNNCell(4, 4))};

  torch::Tensor forward(const torch::Tensor& x) {
    torch::Tensor hidden = torch::zeros({2, 4});
    torch::Tensor cell = torch::zeros({2, 4});
    for (const torch::Tensor& step : x.unbind(0)) {
      std::tie(hidden, cell) = lstm->forward(step, std::make_tuple(hidden, cell));
      hidden = rnn->forward(gru->forward(step, hidden), hidden);
    }
    return hidden;
  }
};

struct Transformer : torch::nn::Module {
  torch::nn::Embedding embedding{register_module("embedding", torch::nn::Embedding(10, 8))};
  torch::nn::TransformerEncoderLayer layer{register_module(
      "layer", torch::nn::TransformerEncoderLayer(
                   torch::nn::TransformerEncoderLayerOptions(8, 2).dim_feedforward(16)))};
  torch::nn::LayerNorm norm{
      register_module("norm", torch::nn::LayerNorm(torch::nn::LayerNormOptions({8})))};

  torch::Tensor forward(const torch::Tensor& tokens) {
    const torch::Tensor mask = torch::ones({5, 5}).triu(1) == 1;
    return norm->forward(layer->forward(embedding->forward(tokens), mask));
  }
};

struct Convolutions : torch::nn::Module {
  torch::nn::Conv1d one{register_module(
      "one", torch::nn::Conv1d(torch::nn::Conv1dOptions(3, 4, 3).padding(torch::kSame)))};
  torch::nn::ConvTranspose1d up{register_module("up", torch::nn::ConvTranspose1d(4, 2, 2))};
  torch::nn::Conv2d two{register_module(
      "two", torch::nn::Conv2d(
                 torch::nn::Conv2dOptions(1, 2, 2).padding_mode(torch::kCircular).padding(1)))};
  torch::nn::Conv3d three{register_module("three", torch::nn::Conv3d(1, 2, 1))};
  torch::nn::GroupNorm norm{register_module("norm", torch::nn::GroupNorm(1, 2))};

  torch::Tensor forward(const torch::Tensor& x) {
    const torch::Tensor y = two->forward(up->forward(one->forward(x)).unsqueeze(1));
    return norm->forward(three->forward(y.unsqueeze(1).narrow(2, 0, 1)).squeeze(2));
  }
};

struct InPlace : torch::nn::Module {
  torch::nn::Linear fc{register_module("fc", torch::nn::Linear(3, 3))};
  torch::nn::ReLU relu{
      register_module("relu", torch::nn::ReLU(torch::nn::ReLUOptions().inplace(true)))};

  torch::Tensor forward(const torch::Tensor& x) {
    torch::Tensor y = relu->forward(fc->forward(x));
    y += 1;
    y.mul_(x);
    torch::Tensor out = torch::empty_like(x);
    torch::sub_out(out, y.detach(), x);
    return y.clamp_min(0.5) + out;
  }
};

struct Views : torch::nn::Module {
  torch::Tensor scale = register_buffer("scale", torch::ones({3}));
  torch::Tensor unread = register_buffer("unread", torch::ones({3}));
  float offsets[3] = {1, 2, 3};

  std::vector<torch::Tensor> forward(const torch::Tensor& x) {
    using torch::indexing::None;
    using torch::indexing::Slice;
    const torch::Tensor y = x.view({2, -1, 3}).permute({1, 0, 2}).contiguous().reshape({-1, 3});
    const torch::Tensor z = y.index({Slice(0, 3), None, Slice(None, None, 2)}).to(torch::kDouble);
    const std::vector<torch::Tensor> parts =
        (y * scale + torch::from_blob(offsets, {3})).split(2, 0);
    return {z.expand({3, 2, 2}),
            parts[1].t(),
            torch::cat({parts[0], parts[1]}, 1),
            torch::stack(parts).sum(torch::IntArrayRef({0, 1})),
            y.index({torch::tensor({0, 1})}),
            x};
  }
};

struct Shared : torch::nn::Module {
  torch::nn::Linear first{register_module("first", torch::nn::Linear(3, 3))};
  torch::nn::Linear second{register_module("second", first)};
  torch::nn::ModuleList list{
      register_module("list", torch::nn::ModuleList(first, torch::nn::Linear(3, 3)))};
  torch::Tensor tied = register_parameter("tied", first->weight);

  torch::Tensor forward(torch::Tensor x) {
    x = second->forward(torch::sigmoid(first->forward(x)));
    for (const auto& module : *list) {
      x = x + module->as<torch::nn::Linear>()->forward(x);
    }
    return x.matmul(tied);
  }
};

struct ControlFlow : torch::nn::Module {
  torch::nn::Linear even{register_module("even", torch::nn::Linear(3, 3))};
  torch::nn::Linear odd{register_module("odd", torch::nn::Linear(3, 3))};

  torch::Tensor forward(torch::Tensor x) {
    for (int i = 0; x.sum().item<float>() > 0 && i < 4; ++i) {
      x = (i % 2 == 0 ? even : odd)->forward(x).abs();
    }
    return torch::equal(x, x) ? x.neg() : x;
  }
};

TEST(RecordedGraph, EqualsTheTracedGraphOfTheModelsInOtherTests) {
  LeNet leNet;
  expectTracedGraph(leNet, torch::ones({2, 1, 28, 28}));
  Loop loop(6);
  expectTracedGraph(loop, torch::ones({1, 3}));
  Attention attention;
  expectTracedGraph(attention, torch::ones({1, 4, 8}));
}

TEST(RecordedGraph, EqualsTheTracedGraphOfRecurrentLayers) {
  Recurrent recurrent;
  expectTracedGraph(recurrent, torch::ones({3, 2, 4}));
}

TEST(RecordedGraph, EqualsTheTracedGraphOfCells) {
  Cells cells;
  expectTracedGraph(cells, torch::ones({2, 2, 4}));
}

TEST(RecordedGraph, EqualsTheTracedGraphOfATransformer) {
  Transformer transformer;
  expectTracedGraph(transformer, torch::ones({5, 1}, torch::kLong));
}

TEST(RecordedGraph, EqualsTheTracedGraphOfConvolutions) {
  Convolutions convolutions;
  expectTracedGraph(convolutions, torch::ones({1, 3, 6}));
}

TEST(RecordedGraph, EqualsTheTracedGraphOfOperatorsInPlace) {
  InPlace inPlace;
  expectTracedGraph(inPlace, torch::ones({2, 3}));
}

TEST(RecordedGraph, EqualsTheTracedGraphOfViews) {
  Views views;
  expectTracedGraph(views, torch::ones({4, 3}));
}

TEST(RecordedGraph, EqualsTheTracedGraphOfSharedModules) {
  Shared shared;
  expectTracedGraph(shared, torch::ones({2, 3}));
}

TEST(RecordedGraph, EqualsTheTracedGraphOfTheBranchesThatWereTaken) {
  ControlFlow controlFlow;
  expectTracedGraph(controlFlow, torch::ones({2, 3}));
}

// The following graphs differ from the traced ones.

TEST(RecordedGraph, IsRefusedWhileLibTorchTraces) {
  LeNet net;
  jit::tracer::trace(
      {torch::ones({1})},
      [&](const jit::Stack& inputs) {
        EXPECT_THAT(
            [&] {
              graphOf(net, torch::ones({2, 1, 28, 28}));
            },
            ::testing::ThrowsMessage<Error>("addGraph: LeNet: cannot be called while LibTorch is "
                                            "tracing"));
        return inputs;
      },
      [](const at::Tensor&) { return std::string(); });
}

TEST(RecordedGraph, KeepsEdgesOfWritesThroughViewsThatTheTracerLoses) {
  struct Cache : torch::nn::Module {
    torch::Tensor forward(const torch::Tensor& x) {
      torch::Tensor cache = torch::zeros({2, 3});
      cache.select(0, 0).copy_(x);
      cache.select(0, 1).copy_(x);
      return cache * 2;
    }
  } net;
  EXPECT_THAT(nodeOf(graphOf(net, torch::ones({3})), "Cache/mul").inputs,
              ElementsAre("Cache/zeros", "Cache/copy_1", "Cache/copy_2"));
}

TEST(RecordedGraph, KnowsWhichSlicesShareElements) {
  struct Gates : torch::nn::Module {
    torch::Tensor forward(const torch::Tensor& x) {
      const std::vector<torch::Tensor> gates = torch::zeros({2, 6}).add_(x).chunk(2, 1);
      gates[0].sigmoid_();
      gates[1].tanh_();
      return gates[0] * gates[1];
    }
  } net;
  const event::Graph graph = graphOf(net, torch::ones({6}));
  EXPECT_THAT(nodeOf(graph, "Gates/tanh").inputs, ElementsAre("Gates/chunk:1"));
  EXPECT_THAT(nodeOf(graph, "Gates/mul").inputs, ElementsAre("Gates/sigmoid", "Gates/tanh"));
}

TEST(RecordedGraph, FollowsElementsIfNoOperatorMadeTheTensor) {
  struct Detached : torch::nn::Module {
    torch::Tensor forward(const torch::Tensor& x) { return x.exp().data().neg(); }
  } net;
  EXPECT_THAT(nodeOf(graphOf(net, torch::ones({3})), "Detached/neg").inputs,
              ElementsAre("Detached/exp"));
}

/// An operator that only writes, as extensions register them.
void scale(at::Tensor tensor, double factor) {
  tensor.mul_(factor);
}
TORCH_LIBRARY(steptape_test, library) {
  library.def("scale_(Tensor(a!) tensor, float factor) -> ()", &scale);
}

TEST(RecordedGraph, ReadsWhatACustomOperatorHasWritten) {
  struct Scaled : torch::nn::Module {
    torch::Tensor forward(const torch::Tensor& x) {
      torch::Tensor y = x.exp();
      static const auto op = c10::Dispatcher::singleton()
                                 .findSchemaOrThrow("steptape_test::scale_", "")
                                 .typed<void(at::Tensor, double)>();
      op.call(y, 0.5);
      return y.neg();
    }
  } net;
  const event::Graph graph = graphOf(net, torch::ones({3}));
  const event::GraphNode& node = nodeOf(graph, "Scaled/scale");
  EXPECT_EQ(node.op, "steptape_test::scale_");
  EXPECT_THAT(node.inputs, ElementsAre("Scaled/exp"));
  EXPECT_THAT(node.outputShapes, ElementsAre(event::GraphShape{3}));
  EXPECT_THAT(node.attributes, Contains(Pair("factor", event::GraphAttribute(0.5))));
  EXPECT_THAT(nodeOf(graph, "Scaled/neg").inputs, ElementsAre("Scaled/scale"));
}

TEST(RecordedGraph, OmitsRangesAndFailedOperators) {
  struct Careful : torch::nn::Module {
    torch::Tensor forward(const torch::Tensor& x) {
      RECORD_FUNCTION("careful", std::vector<c10::IValue>());
      try {
        return x.view({5}).neg();
      } catch (const std::exception&) {
        return x.view({3}).neg();
      }
    }
  } net;
  const event::Graph graph = graphOf(net, torch::ones({1, 3}));
  EXPECT_THAT(nodeOf(graph, "Careful/neg").inputs, ElementsAre("Careful/view"));
  EXPECT_EQ(graph.nodes.size(), 4U);
}

/// Mixed precision on the CPU.
struct Autocast {
  Autocast() { c10::impl::tls_set_dispatch_key_excluded(c10::DispatchKey::AutocastCPU, false); }
  ~Autocast() {
    c10::impl::tls_set_dispatch_key_excluded(c10::DispatchKey::AutocastCPU, true);
    at::autocast::clear_cache();
  }
  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;
};

TEST(RecordedGraph, OmitsCastsOfAutocast) {
  struct Mixed : torch::nn::Module {
    torch::nn::Linear fc{register_module("fc", torch::nn::Linear(3, 3))};
    torch::Tensor forward(const torch::Tensor& x) { return fc->forward(x); }
  } net;
  const Autocast autocast;
  const event::Graph graph = graphOf(net, torch::ones({2, 3}));
  EXPECT_THAT(namesOf(graph, "aten::to"), IsEmpty());
  EXPECT_EQ(nodeOf(graph, "Mixed/fc[Linear]/addmm").outputType, event::TensorType::kBFloat16);
}

/// Computes without operators.
struct Halve : torch::autograd::Function<Halve> {
  static torch::Tensor forward(torch::autograd::AutogradContext*, const torch::Tensor& x) {
    torch::Tensor half = torch::empty(x.sizes());
    std::transform(x.data_ptr<float>(), x.data_ptr<float>() + x.numel(), half.data_ptr<float>(),
                   [](float value) { return value / 2; });
    return half;
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext*,
                                                 const torch::autograd::variable_list& gradients) {
    return {gradients[0] / 2};
  }
};

/// Computes by operators.
struct Double : torch::autograd::Function<Double> {
  static torch::Tensor forward(torch::autograd::AutogradContext*, const torch::Tensor& x) {
    return x * 2;
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext*,
                                                 const torch::autograd::variable_list& gradients) {
    return {gradients[0] * 2};
  }
};

struct CustomFunctions : torch::nn::Module {
  torch::nn::Linear fc{register_module("fc", torch::nn::Linear(3, 3))};
  torch::Tensor scale = register_parameter("scale", torch::ones({3}));

  torch::Tensor forward(const torch::Tensor& x) {
    const torch::Tensor y = Halve::apply(Double::apply(fc->forward(x)));
    return y * Halve::apply(scale);
  }
};

TEST(RecordedGraph, ConnectsCustomFunctionsByAutogradIfOperatorsDoNot) {
  CustomFunctions net;
  const event::Graph graph = graphOf(net, torch::ones({2, 3}));
  EXPECT_THAT(namesOf(graph, "autograd::Halve"),
              ElementsAre("CustomFunctions/Halve_1", "CustomFunctions/Halve_2"));
  EXPECT_THAT(namesOf(graph, "autograd::Double"), IsEmpty());
  EXPECT_THAT(nodeOf(graph, "CustomFunctions/Halve_1").inputs,
              ElementsAre("CustomFunctions/empty_1", "CustomFunctions/fc[Linear]/addmm"));
  EXPECT_THAT(nodeOf(graph, "CustomFunctions/Halve_2").inputs,
              ElementsAre("CustomFunctions/empty_2", "CustomFunctions/scale"));
}

TEST(RecordedGraph, UsesTheOperatorNamesThatTheModelCalls) {
  struct Joined : torch::nn::Module {
    torch::Tensor forward(const torch::Tensor& x) { return torch::concat({x, x}); }
  } net;
  EXPECT_THAT(namesOf(graphOf(net, torch::ones({3})), "aten::concat"),
              ElementsAre("Joined/concat"));
}

}  // namespace
}  // namespace steptape
