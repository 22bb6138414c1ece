// SPDX-License-Identifier: Apache-2.0
// Joins a job within the time limit of the first argument, in milliseconds, and says how that went:
// "rank 1 of 2 has joined" or "rank 1: <error>". With "serve" instead, it serves the store until
// its input ends, as torchrun's agent does. c10d_start_test.cpp starts it.

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <string>

#include "steptape/ranks/c10d_job.h"

#include "ranks/c10d/tcp_store.h"
#include "ranks/communicator/launch.h"

namespace {

int serve() {
  steptape::detail::ranks::Launch launch;
  launch.host = "localhost";
  launch.port = std::atoi(std::getenv("MASTER_PORT"));
  const steptape::c10d::detail::TcpStore store(launch, std::chrono::seconds(10));
  std::cout << "serving" << std::endl;
  std::string line;
  while (std::getline(std::cin, line)) {
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string first = argc > 1 ? argv[1] : "10000";
  if (first == "serve") {
    return serve();
  }
  const char* const variable = std::getenv("RANK") != nullptr ? "RANK" : "SLURM_PROCID";
  const std::string rank = std::getenv(variable);
  try {
    steptape::EnvironmentOptions options;
    options.timeout = std::chrono::milliseconds(std::atoi(first.c_str()));
    const steptape::Environment environment(options);
    const auto world = steptape::world();
    int ones[] = {1};
    world->allreduce(ones, steptape::ReduceOp::kSum);
    std::cout << "rank " + std::to_string(world->rank()) + " of " + std::to_string(ones[0]) +
                     " has joined\n"
              << std::flush;
    return 0;
  } catch (const std::exception& error) {
    std::cout << "rank " + rank + ": " + error.what() + "\n" << std::flush;
    return 1;
  }
}
