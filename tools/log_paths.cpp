// SPDX-License-Identifier: Apache-2.0
#include "tools/log_paths.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/core.h>
#include <map>
#include <utility>

#include "steptape/base/error.h"

#include "tools/exit_code.h"

namespace steptape::tools {

void addPathsArgument(CLI::App* command, std::vector<std::string>* paths) {
  command->add_option("PATH", *paths, "Log directories, runs or event files")
      ->required()
      ->check(CLI::ExistingPath);
}

std::vector<RunFiles> runsOf(const std::vector<std::string>& paths) {
  std::map<std::string, RunFiles> runByDirectory;
  for (const std::string& path : paths) {
    std::vector<RunFiles> found = listRuns(path);
    if (found.empty()) {
      throw Error(ErrorCode::kIoError, "no event file in or below " + path);
    }
    for (RunFiles& run : found) {
      RunFiles& merged = runByDirectory[run.directory];
      run.files.insert(run.files.end(), merged.files.begin(), merged.files.end());
      merged = std::move(run);
    }
  }
  std::vector<RunFiles> runs;
  for (auto& [directory, run] : runByDirectory) {
    std::sort(run.files.begin(), run.files.end());
    run.files.erase(std::unique(run.files.begin(), run.files.end()), run.files.end());
    runs.push_back(std::move(run));
  }
  return runs;
}

int reportProblems(const std::vector<Damage>& problems) {
  int exitCode = kExitFine;
  for (const Damage& problem : problems) {
    if (problem.outcome == ReadOutcome::kTruncated) {
      fmt::print(stderr, "note: {}; the file is being written, or its writer was killed\n",
                 problem.status.message());
    } else {
      fmt::print(stderr, "problem: {}\n", problem.status.message());
      exitCode = kExitProblem;
    }
  }
  return exitCode;
}

}  // namespace steptape::tools
