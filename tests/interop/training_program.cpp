// SPDX-License-Identifier: Apache-2.0
//
//   mpiexec -n 2 training_program ddp <task> <result> shared|messages
//   mpiexec -n 3 training_program slow <folder> <slow rank>
//   training_program flops
#include "interop/training_program.h"

#include <algorithm>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include <steptape/mpi.h>

int main(int argc, char** argv) {
  const steptape::Environment environment(argc, argv);
  const std::string command = argc > 1 ? argv[1] : "";
  const std::vector<std::string> arguments(argv + std::min(argc, 2), argv + argc);
  try {
    if (command == "ddp" && arguments.size() == 3) {
      steptape::test::trainAsDdp(arguments);
    } else if (command == "slow" && arguments.size() == 2) {
      steptape::test::trainWithASlowRank(arguments);
    } else if (command == "flops" && arguments.empty()) {
      steptape::test::countFlops();
    } else {
      std::cerr << "usage: training_program ddp <task> <result> shared|messages\n"
                   "       training_program slow <folder> <slow rank>\n"
                   "       training_program flops\n";
      return 2;
    }
  } catch (const std::exception& error) {
    environment.abort(error.what());
  }
  return 0;
}
