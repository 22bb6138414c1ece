// SPDX-License-Identifier: Apache-2.0
#include <exception>
#include <string>

#include "tools/app.h"
#include "tools/exit_code.h"
#include "tools/standard_streams.h"

int main(int argc, char** argv) {
  try {
    steptape::tools::holdStandardStreams();
    const int exitCode = steptape::tools::runApp(argc, argv);
    steptape::tools::flushOutput();
    return exitCode;
  } catch (const std::exception& error) {
    steptape::tools::printMessage(std::string("steptape: ") + error.what());
    return steptape::tools::kExitProblem;
  }
}
