// SPDX-License-Identifier: Apache-2.0
// Writes a tensor with the installed library.
#include <iostream>

#include <steptape/torch.h>

#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <torch/types.h>

// Many programs do this, so no name of Steptape may collide with LibTorch's.
using namespace steptape;
using namespace torch;

int main(int argc, char** argv) {
  SummaryWriter writer(argc > 1 ? argv[1] : "runs");
  writer.addScalar("loss", at::ones({}), 1);
  const Tensor weights = at::randn({10, 10});
  writer.addHistogram("weights", weights, 1);
  const Status status = writer.close();
  std::cout << "closed: " << (status.ok() ? "ok" : status.message()) << '\n';
  return status.ok() ? 0 : 1;
}
