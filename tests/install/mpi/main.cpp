// SPDX-License-Identifier: Apache-2.0
// Averages one metric over the ranks with the installed library.
#include <iostream>

#include <steptape/mpi.h>
#include <steptape/steptape.h>

int main(int argc, char** argv) {
  steptape::Environment environment(argc, argv);
  const auto world = steptape::world();
  const double mean = steptape::metricAverage(*world, world->rank(), 1.0);
  const double wanted = (world->size() - 1) / 2.0;
  std::cout << "rank " << world->rank() << " of " << world->size() << ": mean " << mean << '\n';
  return mean == wanted ? 0 : 1;
}
