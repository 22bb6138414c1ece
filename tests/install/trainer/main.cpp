// SPDX-License-Identifier: Apache-2.0
// Averages the gradients of a module, on one rank, with the installed library.
#include <iostream>

#include <steptape/trainer.h>

#include <torch/nn/modules/linear.h>

int main() {
  const auto world = std::make_shared<steptape::Communicator>();
  torch::nn::Linear model(2, 1);
  steptape::broadcastParameters(*model, *world);
  steptape::DistributedSampler sampler(10, *world);
  std::cout << "broadcast to " << world->size() << " rank\n";
  return 0;
}
