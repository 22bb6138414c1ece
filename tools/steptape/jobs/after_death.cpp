// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/jobs/after_death.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fmt/format.h>
#include <optional>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <vector>

#include "tools/steptape/jobs/run_progress.h"
#include "tools/steptape/states/autopsy_text.h"
#include "tools/steptape/states/log_autopsy.h"
#include "tools/steptape/states/rank_view.h"
#include "tools/steptape/states/verdict.h"
#include "tools/steptape/terminal/standard_streams.h"
#include "tools/steptape/terminal/terminal.h"

namespace steptape::tools {
namespace {

/// Returns the log directory of the first rank that has one.
std::string directoryOf(const Job& job, const std::string& run) {
  std::error_code unknown;
  for (const RankView& rank : job.ranks) {
    for (const std::string& directory : rank.state.logDirectories) {
      if (std::filesystem::is_directory(directory, unknown)) {
        return directory;
      }
    }
  }
  return run;
}

/// Returns the jobs whose processes were started since then and logged into the run.
std::vector<Job> jobsSince(const std::string& run, double since) {
  std::vector<std::string> problems;
  std::vector<RankView> views = readViews({run}, &problems);
  views.erase(
      std::remove_if(views.begin(), views.end(),
                     [since](const RankView& view) { return view.state.process.created < since; }),
      views.end());
  return jobsOf(std::move(views));
}

/// Tells what the processes that logged into the run have died of, if they have left a trace.
void reportDeath(const std::string& run, double since) {
  const std::vector<Job> jobs = jobsSince(run, since);
  if (jobs.empty()) {
    return;
  }
  const Verdict verdict = judge(jobs.front(), surroundingsHere());
  fmt::print(stderr, "\n{}\n", autopsyText(jobs.front(), verdict, terminalAt(STDERR_FILENO)));
  logAutopsy(directoryOf(jobs.front(), run), jobs.front(), autopsyMarkdown(jobs.front(), verdict));
}

}  // namespace

void afterDeath(const std::string& run, double since) {
  std::error_code unknown;
  if (run.empty() || !std::filesystem::is_directory(run, unknown)) {
    return;
  }
  try {
    reportDeath(run, since);
  } catch (const std::exception& error) {
    // The job matters more than the report about it.
    printMessage(std::string("no report about the death: ") + error.what());
  }
  const std::optional<std::int64_t> step = newestCheckpoint(run);
  printMessage(fmt::format("  {}: {}", run,
                           step ? fmt::format("newest checkpoint at step {}", *step)
                                : "no checkpoint checkpoint_<step>.pt"));
}

Remains remainsSince(const std::string& run, double since) {
  Remains remains;
  try {
    for (const Job& job : jobsSince(run, since)) {
      for (const DeadRank& dead : judge(job, surroundingsHere()).dead) {
        ++remains.died;
        if (dead.cause.kind == Cause::Kind::kLeftEarly && !remains.exitCode) {
          remains.exitCode = std::atoi(dead.rank->state.lastError.c_str() +
                                       std::strlen(steptape::detail::kLeftEarly));
        }
      }
    }
  } catch (const std::exception&) {
    return {};  // the launcher's exit code is what is known
  }
  return remains;
}

}  // namespace steptape::tools
