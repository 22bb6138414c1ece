// SPDX-License-Identifier: Apache-2.0
// main() of all tests under mpiexec.

#include <chrono>
#include <exception>

#include "steptape/ranks/mpi_job.h"

#include "support/rank_failures.h"

#include <gtest/gtest.h>

int main(int argc, char** argv) {
  steptape::EnvironmentOptions options;
  options.timeout = std::chrono::seconds(60);
  const steptape::Environment environment(argc, argv, options);
  ::testing::InitGoogleTest(&argc, argv);
  try {
    return steptape::test::RankFailures::runAllTests(steptape::world());
  } catch (const std::exception& error) {
    // Out of step with the other ranks: only ending the whole job is left.
    environment.abort(error.what());
  }
}
