// SPDX-License-Identifier: Apache-2.0
#include "faults/mpi_world.h"

#include "steptape/ranks/mpi_communicator.h"

namespace steptape::test {

std::shared_ptr<Communicator> makeWorld(int ranksPerNode) {
  MpiCommunicatorOptions options;
  options.ranksPerNode = ranksPerNode;
  return std::make_shared<MpiCommunicator>(MPI_COMM_WORLD, options);
}

void initializeMpi() {
  MPI_Init(nullptr, nullptr);
}

void finalizeMpi() {
  MPI_Finalize();
}

}  // namespace steptape::test
