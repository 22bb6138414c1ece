// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include <steptape/steptape.h>

int main() {
  steptape::SummaryWriter writer("runs/quickstart");
  for (int step = 0; step < 1000; ++step) {
    writer.addScalar("loss", std::exp(-step / 200.0), step);
    writer.addScalar("accuracy", 1 - std::exp(-step / 300.0), step);
  }
  writer.close().throwIfError();
}
