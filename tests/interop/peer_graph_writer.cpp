// SPDX-License-Identifier: Apache-2.0
// Logs the graph of a TorchScript file that Python has saved, and in LOGDIR/eager that of an eager
// module that computes the same.
//
//   peer_graph_writer MODULE LOGDIR

#include <cstdio>
#include <exception>
#include <string>

#include "steptape/steptape.h"
#include "steptape/torch.h"

#include <torch/script.h>
#include <torch/torch.h>

namespace {

/// The same network as peer_graph.Net.
struct Net : torch::nn::Module {
  torch::nn::Conv2d conv{
      register_module("conv", torch::nn::Conv2d(torch::nn::Conv2dOptions(3, 4, 3).padding(1)))};
  torch::nn::ReLU relu{register_module("relu", torch::nn::ReLU())};
  torch::nn::Sequential head{register_module(
      "head",
      torch::nn::Sequential(torch::nn::Linear(4, 6), torch::nn::ReLU(), torch::nn::Linear(6, 2)))};

  torch::Tensor forward(torch::Tensor x) {
    x = relu->forward(conv->forward(x));
    return head->forward((x * (x + 1)).mean({2, 3}));
  }
};

void logEager(const std::string& directory, const torch::Tensor& input) {
  Net net;
  steptape::SummaryWriter writer(directory);
  writer.addGraph(net, input);
  writer.close().throwIfError();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: peer_graph_writer MODULE LOGDIR\n", stderr);
    return 2;
  }
  try {
    const std::string directory = argv[2];
    const torch::Tensor input = torch::zeros({2, 3, 8, 8});  // as peer_graph.INPUT_SHAPE
    torch::jit::Module module = torch::jit::load(argv[1]);
    steptape::SummaryWriter writer(directory);
    writer.addGraph(module, input);
    writer.close().throwIfError();
    logEager(directory + "/eager", input);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "peer_graph_writer: %s\n", error.what());
    return 1;
  }
  return 0;
}
