// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include <steptape/comm/communicator.h>

#include "command_line.h"

namespace example {

using World = std::shared_ptr<steptape::Communicator>;

/// A failure that every rank knows of, so that all can end in order; what() is for the user.
struct AgreedFailure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Has every rank do something that may fail on some of them, such as reading a file, before any of
/// them goes on to a collective in which it would wait for those that failed.
///
/// Collective.
///
/// @param advice Follows the message of a failure: how to get the file.
/// @return what `work` returned.
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

/// What main() of an example does: initializes MPI, reads the command line, and calls `run`.
///
/// The root prints help, usage errors and AgreedFailures, once for all ranks. Any other exception
/// may be one rank's alone: it ends the whole job, so that no rank waits for it.
///
/// @param line `parse()` is called on it.
/// @return the exit code: 0 fine, 1 failed, 2 used wrongly.
int runOnRanks(int argc, char** argv, CommandLine& line,
               const std::function<void(const World& world)>& run);

}  // namespace example
