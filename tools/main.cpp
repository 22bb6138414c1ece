// SPDX-License-Identifier: Apache-2.0
#include <exception>
#include <fmt/core.h>

#include "tools/app.h"
#include "tools/exit_code.h"

int main(int argc, char** argv) {
  try {
    return steptape::tools::runApp(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "steptape: {}\n", error.what());
    return steptape::tools::kExitProblem;
  }
}
