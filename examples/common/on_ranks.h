// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include <steptape/ranks/communicator.h>

#include "command_line.h"

namespace example {

using World = std::shared_ptr<steptape::Communicator>;

/// A failure that every rank knows, so that all ranks can end in order; what() is the message for
/// the user.
struct AgreedFailure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Runs `work` on every rank, such as reading a file, and finds out whether it failed on any.
///
/// Without this, the other ranks would wait in their next collective for a rank that failed.
///
/// Collective.
///
/// @param advice Appended to the message of a failure, such as how to get the file.
/// @return the result of `work`.
/// @throws AgreedFailure on every rank, with the message of the first rank that failed.
template <typename Work>
auto onAllRanks(steptape::Communicator& world, const Work& work, const std::string& advice = "") {
  std::optional<decltype(work())> result;
  std::string problem;
  try {
    result.emplace(work());
  } catch (const std::exception& error) {
    problem = error.what();
  }
  for (const std::string& ofRank : world.allgather(problem)) {
    if (!ofRank.empty()) {
      throw AgreedFailure(ofRank + (advice.empty() ? "" : "\n" + advice));
    }
  }
  return std::move(*result);
}

/// The main() of an example: initializes MPI, parses the command line, and calls `run`.
///
/// The root prints help, usage errors and AgreedFailures once for all ranks. Any other exception
/// may occur on one rank only. It ends the whole job, so that no rank waits for that one.
///
/// @param line The options; this function calls its parse().
/// @return the exit code: 0 for success, 1 for a failure, 2 for an invalid command line.
int runOnRanks(int argc, char** argv, CommandLine& line,
               const std::function<void(const World& world)>& run);

}  // namespace example
