// SPDX-License-Identifier: Apache-2.0
// A job of which the last rank fails in the way that the first argument names; the second is the
// log directory. rank_failure_test.cpp starts it and looks at how it ends.

#include <chrono>
#include <csignal>
#include <iostream>
#include <stdexcept>
#include <string>
#include <thread>
#include <unistd.h>

#include "steptape/base/error.h"
#include "steptape/mpi.h"

namespace {

void failAs(const std::string& kind, const steptape::mpi::Environment& environment) {
  if (kind == "killed") {
    std::raise(SIGKILL);
  } else if (kind == "exits") {
    _exit(0);
  } else if (kind == "throws") {
    throw std::runtime_error("this rank fails");
  } else if (kind == "aborts") {
    environment.abort("this rank gives up");
  } else if (kind == "hangs") {
    // Far longer than the others wait; the end of the job cuts it short.
    std::this_thread::sleep_for(std::chrono::seconds(60));
  }
}

void train(const std::string& kind, const std::string& logDir,
           const steptape::mpi::Environment& environment) {
  const auto world = steptape::mpi::world();
  world->setTimeout(std::chrono::milliseconds(500));
  steptape::DistributedWriter writer(logDir, world);
  for (int step = 0; step < 3; ++step) {
    writer.addReduced("loss", world->rank(), step);
    writer.reduce(step);
  }
  writer.flush().throwIfError();
  world->barrier();  // What comes now is after the flush.

  if (world->rank() == world->size() - 1) {
    failAs(kind, environment);
  }
  writer.addReduced("loss", world->rank(), 3);
  writer.reduce(3);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    steptape::mpi::Environment environment(argc, argv);
    const std::string kind = argc > 1 ? argv[1] : "";
    const std::string logDir = argc > 2 ? argv[2] : "";
    if (kind != "caught hang") {
      train(kind, logDir, environment);
      return 0;
    }
    // Here the program goes on after the timeout, as far as MPI_Finalize.
    try {
      train("hangs", logDir, environment);
    } catch (const steptape::Error& error) {
      std::cerr << "caught: " << error.what() << std::endl;
    }
  } catch (const std::exception& error) {
    std::cerr << "failed: " << error.what() << std::endl;
    return 1;
  }
  return 0;
}
