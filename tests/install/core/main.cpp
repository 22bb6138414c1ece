// SPDX-License-Identifier: Apache-2.0
// Writes one scalar with the installed library.
#include <iostream>

#include <steptape/steptape.h>

int main(int argc, char** argv) {
  steptape::SummaryWriter writer(argc > 1 ? argv[1] : "runs");
  writer.addScalar("loss/train", 0.5, 1);
  const steptape::Status status = writer.close();
  std::cout << "closed: " << (status.ok() ? "ok" : status.message()) << '\n';
  return status.ok() ? 0 : 1;
}
