// SPDX-License-Identifier: Apache-2.0
#include "ranks/mpi/job_state.h"
#include "ranks/mpi/mpi_environment.h"

namespace steptape::mpi {
namespace {

std::shared_ptr<Communicator>& keptWorld() {
  static std::shared_ptr<Communicator> world;
  return world;
}

}  // namespace

std::shared_ptr<Communicator> world(const MpiCommunicatorOptions& options) {
  detail::requireMpi("world");
  if (!keptWorld()) {
    keptWorld() = std::make_shared<MpiCommunicator>(MPI_COMM_WORLD, options);
  }
  return keptWorld();
}

void detail::forgetWorld() {
  keptWorld().reset();
}

}  // namespace steptape::mpi
