// SPDX-License-Identifier: Apache-2.0
// Times of a recorded training loop on the graph of its model.

#include "steptape/profile/graph_profile.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "steptape/libtorch/op_profiler.h"

#include "libtorch/graph_models.h"
#include "libtorch/graph_queries.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

namespace steptape {
namespace {

/// Two linear layers of which the second is a hundred times as large, and operators without
/// parameters.
struct UnevenNetImpl : torch::nn::Module {
  torch::nn::Linear small{register_module("small", torch::nn::Linear(64, 64))};
  torch::nn::Sequential wide{
      register_module("wide", torch::nn::Sequential(torch::nn::Linear(64, 6400)))};

  torch::Tensor forward(const torch::Tensor& x) {
    return torch::log_softmax(wide->forward(torch::relu(small->forward(x))), 1);
  }
};
TORCH_MODULE(UnevenNet);

constexpr int kProfiledSteps = 3;
constexpr std::int64_t kBatch = 32;

/// Trains a model for some steps, and returns the recorded trace.
template <typename Model>
Trace traceOfTraining(Model& model, const torch::Tensor& input) {
  torch::optim::SGD optimizer(model->parameters(), 0.01);
  Trace trace;
  OpProfilerOptions options;
  options.schedule.warmup = 1;
  options.schedule.active = kProfiledSteps;
  options.schedule.repeat = 1;
  options.shapes = true;
  options.memory = true;
  options.onTrace = [&](const Trace& made, SummaryWriter*, std::int64_t) { trace = made; };
  OpProfiler profiler(options);
  profiler.watch(*model);
  for (int i = 0; i < kProfiledSteps + 1; ++i) {
    optimizer.zero_grad();
    // Some operators of the loss, which is not part of the graph, have the same names as the
    // model's.
    torch::relu(torch::log_softmax(model->forward(input), 1).mean().neg()).backward();
    optimizer.step();
    profiler.step();
  }
  profiler.stop();
  EXPECT_TRUE(profiler.flush().ok());
  return trace;
}

std::map<std::string, event::GraphNodeStats> byNode(
    const std::vector<event::GraphNodeStats>& stats) {
  std::map<std::string, event::GraphNodeStats> nodes;
  for (const event::GraphNodeStats& node : stats) {
    nodes[node.name] = node;
  }
  return nodes;
}

class GraphProfileOfTraining : public ::testing::Test {
 protected:
  GraphProfileOfTraining() {
    const torch::Tensor input = torch::randn({kBatch, 64});
    graph_ = graphOf(model_, input);
    trace_ = traceOfTraining(model_, input);
    profile_ = profileGraph(graph_, trace_);
  }

  /// Returns the time per step of the calls of addmm in a module, or of the gradients of these
  /// calls.
  double microsOf(const std::string& name, const std::string& module) const {
    std::set<std::int64_t> sequences;
    forEachSpan([&](const std::string& spanName, const TraceSpan& span) {
      if (spanName == "aten::addmm" && trace_.details[span.details].module == module) {
        sequences.insert(span.sequence);
      }
    });
    std::int64_t nanos = 0;
    int calls = 0;
    forEachSpan([&](const std::string& spanName, const TraceSpan& span) {
      if (spanName == name && sequences.count(span.sequence) > 0) {
        nanos += span.duration;
        ++calls;
      }
    });
    EXPECT_EQ(calls, kProfiledSteps) << name << " of " << module;
    return static_cast<double>(nanos) / (1e3 * kProfiledSteps);
  }

  template <typename Visit>
  void forEachSpan(const Visit& visit) const {
    for (const TraceThread& thread : trace_.threads) {
      for (const TraceSpan& span : thread.spans) {
        visit(trace_.names[span.name].text, span);
      }
    }
  }

  UnevenNet model_;
  event::Graph graph_;
  Trace trace_;
  GraphProfile profile_;
};

TEST_F(GraphProfileOfTraining, GivesTwoLayersOfOneTypeTheirOwnTimes) {
  const auto forward = byNode(profile_.forward);
  const auto backward = byNode(profile_.backward);
  const std::string small = "UnevenNet/small[Linear]/addmm";
  const std::string wide = "UnevenNet/wide[Sequential]/0[Linear]/addmm";
  const auto micros = [](const event::GraphNodeStats& node) {
    return static_cast<double>(node.durationMicros);
  };
  EXPECT_NEAR(micros(forward.at(small)), microsOf("aten::addmm", "small"), 1);
  EXPECT_NEAR(micros(forward.at(wide)), microsOf("aten::addmm", "wide.0"), 1);
  EXPECT_NEAR(micros(backward.at(small)), microsOf("AddmmBackward0", "small"), 1);
  EXPECT_NEAR(micros(backward.at(wide)), microsOf("AddmmBackward0", "wide.0"), 1);
}

TEST_F(GraphProfileOfTraining, KnowsTheMemoryOfEachOutput) {
  const auto forward = byNode(profile_.forward);
  EXPECT_EQ(forward.at("UnevenNet/small[Linear]/addmm").outputBytes, kBatch * 64 * 4);
  EXPECT_EQ(forward.at("UnevenNet/wide[Sequential]/0[Linear]/addmm").outputBytes,
            kBatch * 6400 * 4);
}

TEST_F(GraphProfileOfTraining, FindsOperatorsWithoutParametersButNotTheLoss) {
  const auto forward = byNode(profile_.forward);
  for (const char* op : {"aten::relu", "aten::log_softmax"}) {
    for (const std::string& node : namesOf(graph_, op)) {
      ASSERT_EQ(forward.count(node), 1U) << node;
    }
  }
  // The model's output is as large as the batch, the loss's is one number.
  EXPECT_EQ(forward.at(namesOf(graph_, "aten::relu").at(0)).outputBytes, kBatch * 64 * 4);
}

TEST(GraphProfileOfModels, FindsEveryOperatorOfAResidualNetwork) {
  ResNet model;
  const torch::Tensor input = torch::randn({4, 3, 16, 16});
  const event::Graph graph = graphOf(model, input);
  const auto forward = byNode(profileGraph(graph, traceOfTraining(model, input)).forward);
  for (const event::GraphNode& node : graph.nodes) {
    if (node.op.rfind("aten::", 0) == 0) {
      EXPECT_EQ(forward.count(node.name), 1U) << node.name << " " << node.op;
    }
  }
}

}  // namespace
}  // namespace steptape
