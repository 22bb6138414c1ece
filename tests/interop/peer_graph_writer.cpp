// SPDX-License-Identifier: Apache-2.0
// Logs the graph of a TorchScript file that Python has saved.
//
//   peer_graph_writer MODULE LOGDIR

#include <cstdio>
#include <exception>

#include "steptape/steptape.h"
#include "steptape/torch.h"

#include <torch/script.h>

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: peer_graph_writer MODULE LOGDIR\n", stderr);
    return 2;
  }
  try {
    torch::jit::Module module = torch::jit::load(argv[1]);
    steptape::SummaryWriter writer(argv[2]);
    writer.addGraph(module, torch::zeros({2, 3, 8, 8}));  // as peer_graph.INPUT_SHAPE
    writer.close().throwIfError();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "peer_graph_writer: %s\n", error.what());
    return 1;
  }
  return 0;
}
