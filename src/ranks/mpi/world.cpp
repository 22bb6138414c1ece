// SPDX-License-Identifier: Apache-2.0
#include "steptape/ranks/mpi_communicator.h"
#include "steptape/ranks/mpi_environment.h"

#include "ranks/mpi/job_state.h"

namespace steptape::mpi {
namespace {

std::shared_ptr<Communicator>& keptWorld() {
  static std::shared_ptr<Communicator> world;
  return world;
}

}  // namespace

std::shared_ptr<Communicator> world() {
  detail::requireMpi("mpi::world");
  if (!keptWorld()) {
    keptWorld() = std::make_shared<MpiCommunicator>(MPI_COMM_WORLD);
  }
  return keptWorld();
}

void detail::forgetWorld() {
  keptWorld().reset();
}

}  // namespace steptape::mpi
