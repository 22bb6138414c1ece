// SPDX-License-Identifier: Apache-2.0
// main() of all tests under torchrun or tests/support/start_ranks.cpp.

#include <chrono>
#include <exception>
#include <iostream>

#include "steptape/ranks/c10d_job.h"

#include "support/rank_failures.h"

#include <gtest/gtest.h>

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  try {
    steptape::EnvironmentOptions options;
    options.timeout = std::chrono::seconds(60);
    const steptape::Environment environment(options);
    return steptape::test::RankFailures::runAllTests(steptape::world());
  } catch (const std::exception& error) {
    std::cerr << "the test program ends: " << error.what() << std::endl;
    return 1;
  }
}
