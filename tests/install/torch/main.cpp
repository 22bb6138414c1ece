// SPDX-License-Identifier: Apache-2.0
// Writes a tensor with the installed library.
#include <iostream>

#include <steptape/torch.h>

#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>

int main(int argc, char** argv) {
  steptape::SummaryWriter writer(argc > 1 ? argv[1] : "runs");
  writer.addScalar("loss", at::ones({}), 1);
  writer.addHistogram("weights", at::randn({10, 10}), 1);
  const steptape::Status status = writer.close();
  std::cout << "closed: " << (status.ok() ? "ok" : status.message()) << '\n';
  return status.ok() ? 0 : 1;
}
