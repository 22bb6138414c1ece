// SPDX-License-Identifier: Apache-2.0
#include "log/writer/run_claim.h"

#include <utility>

#include "base/got_expected.h"
#include "log/writer/file_system.h"

namespace steptape::detail::log {

RunClaim claimRun(const std::string& directory, const WriterOptions& options) {
  if (!options.enabled || options.occupied == OccupiedRun::kShare ||
      FileSystem::current().createDirectories(directory) != 0) {
    return {};  // whoever creates the event file says what is wrong with the directory
  }
  process::DirectoryLock::Result result =
      process::DirectoryLock::acquire(directory, options.filenameSuffix);
  if (!result.holder.empty()) {
    return {nullptr,
            {ErrorCode::kFailedPrecondition,
             "SummaryWriter: " +
                 base::gotExpected("the run " + directory + ", which " + result.holder + " writes",
                                   "a run of its own for each job, or WriterOptions::occupied that "
                                   "permits it")}};
  }
  if (!result.problem.ok()) {
    result.problem = {ErrorCode::kIoError,
                      "SummaryWriter: other processes cannot see that this one writes " +
                          directory + ": " + result.problem.message()};
  }
  return {std::move(result.lock), std::move(result.problem)};
}

RunClaim chooseRun(std::string* directory, WriterOptions* options) {
  const auto withoutSlashes = [](std::string path) {
    while (path.size() > 1 && path.back() == '/') {
      path.pop_back();
    }
    return path;
  };
  const std::string base = withoutSlashes(*directory);
  const std::string mirror = withoutSlashes(options->mirror);
  RunClaim claim = claimRun(*directory, *options);
  for (int number = 2; claim.isOccupied() && options->occupied == OccupiedRun::kNewDirectory;
       ++number) {
    const std::string suffix = "_" + std::to_string(number);
    *directory = base + suffix;
    options->mirror = mirror.empty() ? "" : mirror + suffix;
    claim = claimRun(*directory, *options);
  }
  return claim;
}

}  // namespace steptape::detail::log
