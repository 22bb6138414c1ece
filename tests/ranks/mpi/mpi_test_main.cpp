// SPDX-License-Identifier: Apache-2.0
// main() of all tests under mpiexec.

#include <chrono>
#include <exception>
#include <iostream>
#include <memory>

#include "steptape/ranks/mpi_communicator.h"
#include "steptape/ranks/mpi_environment.h"

#include "support/rank_failures.h"

#include <gtest/gtest.h>

int main(int argc, char** argv) {
  steptape::mpi::Environment environment(argc, argv);
  ::testing::InitGoogleTest(&argc, argv);
  try {
    steptape::MpiCommunicatorOptions options;
    options.timeout = std::chrono::seconds(60);
    return steptape::test::RankFailures::runAllTests(
        std::make_shared<steptape::MpiCommunicator>(MPI_COMM_WORLD, options));
  } catch (const std::exception& error) {
    // Out of step with the other ranks: only ending the whole job is left.
    std::cerr << "the test program ends: " << error.what() << std::endl;
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
}
