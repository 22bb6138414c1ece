// SPDX-License-Identifier: Apache-2.0
#include "on_ranks.h"

#include <iostream>

#include <steptape/environment.h>
#include <steptape/ranks/communicator.h>

namespace example {

int runOnRanks(int argc, char** argv, CommandLine& line,
               const std::function<void(const World& world)>& run) try {
  const steptape::Environment environment(argc, argv);
  const std::string program = programName(argv[0]);
  try {
    const World world = steptape::world();
    try {
      if (line.parse(argc, argv)) {
        run(world);
      } else {
        steptape::logFromRoot(*world, line.help(), std::cout);
      }
      return 0;
    } catch (const UsageError& error) {
      // All ranks have the same command line, so all of them get here.
      steptape::logFromRoot(*world, program + ": " + error.what() + "; see --help\n", std::cerr);
      return kExitUsage;
    } catch (const AgreedFailure& error) {
      steptape::logFromRoot(*world, program + ": " + error.what() + "\n", std::cerr);
      return kExitFailure;
    }
  } catch (const std::exception& error) {
    environment.abort(error.what());
  }
} catch (const std::exception& error) {
  std::cerr << programName(argv[0]) << ": " << error.what()
            << std::endl;  // The ranks did not meet.
  return kExitFailure;
}

}  // namespace example
