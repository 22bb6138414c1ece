// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/jobs/after_death.h"

#include <cstdint>
#include <exception>
#include <filesystem>
#include <fmt/format.h>
#include <optional>
#include <system_error>
#include <unistd.h>
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

/// Tells what the processes that logged into the run have died of, if they have left a trace.
void reportDeath(const std::string& run) {
  std::vector<std::string> problems;
  const std::vector<Job> jobs = jobsOf(readViews({run}, &problems));
  if (jobs.empty()) {
    return;
  }
  const Verdict verdict = judge(jobs.front(), surroundingsHere());
  printMessage(autopsyText(jobs.front(), verdict, terminalAt(STDERR_FILENO)));
  logAutopsy(run, jobs.front(), autopsyMarkdown(jobs.front(), verdict));
}

}  // namespace

void afterDeath(const std::string& run) {
  std::error_code unknown;
  if (run.empty() || !std::filesystem::is_directory(run, unknown)) {
    return;
  }
  try {
    reportDeath(run);
  } catch (const std::exception& error) {
    // The job matters more than the report about it.
    printMessage(std::string("no report about the death: ") + error.what());
  }
  const std::optional<std::int64_t> step = newestCheckpoint(run);
  printMessage(fmt::format("  {}: {}", run,
                           step ? fmt::format("newest checkpoint at step {}", *step)
                                : "no checkpoint checkpoint_<step>.pt"));
}

}  // namespace steptape::tools
