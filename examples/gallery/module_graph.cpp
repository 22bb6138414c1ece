// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include <steptape/torch.h>

#include "gallery.h"
#include "resnet.h"

namespace {

/// Profiles a few training steps and logs their times on the nodes of the graph.
void profileTraining(steptape::SummaryWriter& writer, ResNet& model,
                     const steptape::event::Graph& graph) {
  steptape::OpProfilerOptions options;
  options.schedule.warmup = 1;
  options.schedule.active = 3;
  options.schedule.repeat = 1;
  options.shapes = true;  // Assigns operators to modules.
  options.memory = true;
  options.onTrace = [&](const steptape::Trace& trace, steptape::SummaryWriter*, std::int64_t step) {
    steptape::writeGraphProfile(writer, graph, trace, step);
  };
  steptape::OpProfiler profiler(options);
  profiler.watch(*model);
  torch::optim::SGD optimizer(model->parameters(), 0.01);
  for (int step = 0; step < 4; ++step) {
    optimizer.zero_grad();
    const torch::Tensor output = model->forward(torch::ones({4, 3, 32, 32}));
    torch::nn::functional::cross_entropy(output, torch::zeros({4}, torch::kLong)).backward();
    optimizer.step();
    profiler.step();
  }
}

}  // namespace

void logModuleGraph(steptape::SummaryWriter& writer) {
  ResNet model;
  const steptape::event::Graph graph = steptape::modelGraph(model, torch::ones({4, 3, 32, 32}));
  writer.addGraph(graph);
  profileTraining(writer, model, graph);
}
