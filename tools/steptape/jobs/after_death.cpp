// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/jobs/after_death.h"

#include <algorithm>
#include <chrono>
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

#include "log/writer/recovery.h"
#include "storage/mirror/directory_mark.h"
#include "storage/mirror/send_directory.h"
#include "tools/steptape/hosts/slurm_job.h"
#include "tools/steptape/jobs/run_progress.h"
#include "tools/steptape/states/autopsy_report.h"
#include "tools/steptape/states/autopsy_text.h"
#include "tools/steptape/states/log_autopsy.h"
#include "tools/steptape/states/rank_view.h"
#include "tools/steptape/states/verdict.h"
#include "tools/steptape/tables/recovery_text.h"
#include "tools/steptape/terminal/screen_text.h"
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

/// Returns what is known about processes that were started since then.
JobViews viewsSince(const JobSource& source, double since) {
  JobViews found = source.read();
  const auto isEarlier = [since](const RankView& view) {
    return view.state.process.created - view.clockAhead < since;
  };
  found.views.erase(std::remove_if(found.views.begin(), found.views.end(), isEarlier),
                    found.views.end());
  return found;
}

void recoverElsewhere(const JobSource& source) {
  if (!source.asksOthers()) {
    return;  // the next start recovers what is here
  }
  std::vector<std::string> problems;
  const auto report = source.recover(/*discardsMissing=*/false, &problems);
  std::fputs(recoveryText(report, terminalAt(STDERR_FILENO)).c_str(), stderr);
  printMessages(problems);
}

/// Returns the runs in and below `directory` that have a mirror; of runs in each other, the outer.
std::vector<std::string> mirroredRunsIn(const std::string& directory) {
  namespace fs = std::filesystem;
  if (!steptape::detail::storage::readMark(directory).url.empty()) {
    return {directory};
  }
  std::vector<std::string> runs;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(directory,
                                              fs::directory_options::skip_permission_denied, error);
       !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    std::error_code ignored;
    if (entry->is_directory(ignored) &&
        !steptape::detail::storage::readMark(entry->path().string()).url.empty()) {
      runs.push_back(entry->path().string());
      entry.disable_recursion_pending();
    }
  }
  return runs;
}

/// Brings what is in a run now, the report too, to the bucket to which its writer mirrored it.
void sendToMirror(const std::string& run) {
  namespace storage = steptape::detail::storage;
  constexpr std::chrono::seconds kPatience{20};
  const std::string url = storage::readMark(run).url;
  steptape::detail::log::RecoveryOptions left;
  left.directory = run;
  left.below = true;
  static_cast<void>(recoverRuns(left));
  const storage::SentDirectory sent =
      storage::sendDirectory(run, storage::parseBucketUrl(url, "mirror"), kPatience);
  for (const Status& problem : sent.problems) {
    printMessage("problem: " + problem.message());
  }
}

}  // namespace

Aftermath::Aftermath(const JobSelection& place, double since) {
  std::error_code unknown;
  if (place.paths.empty() || !std::filesystem::is_directory(place.paths.front(), unknown)) {
    return;
  }
  run_ = place.paths.front();
  try {
    source_.emplace(place);
    JobViews found = viewsSince(*source_, since);
    jobs_ = jobsOf(std::move(found.views));
    problems_ = std::move(found.problems);
    if (!jobs_.empty()) {
      verdict_ = judge(jobs_.front(), found.machines);
    }
  } catch (const std::exception& error) {
    failure_ = error.what();
  }
}

bool Aftermath::ranOutOfMemory() const {
  return !verdict_.dead.empty() && verdict_.dead.front().cause.kind == Cause::Kind::kOutOfMemory;
}

std::string Aftermath::headline() const {
  if (jobs_.empty() || !failure_.empty()) {
    return "";
  }
  const std::vector<std::string> lines = autopsyHeadline(jobs_.front(), verdict_);
  return lines.empty() ? "" : printable(lines.front(), /*hasUtf8=*/true);
}

void Aftermath::report() const {
  if (run_.empty()) {
    return;
  }
  std::string failure = failure_;
  try {
    if (failure.empty()) {
      reportDeath();
      recoverElsewhere(*source_);
      for (const std::string& run : mirroredRunsIn(run_)) {
        sendToMirror(run);
      }
    }
  } catch (const std::exception& error) {
    failure = error.what();
  }
  if (!failure.empty()) {
    printMessage("no report about the death: " + failure);
  }
  const std::optional<std::int64_t> step = newestCheckpoint(run_);
  printMessage(fmt::format("  {}: {}", run_,
                           step ? fmt::format("newest checkpoint at step {}", *step)
                                : "no checkpoint checkpoint_<step>.pt"));
}

void Aftermath::reportDeath() const {
  if (source_->asksOthers()) {
    printMessages(problems_);
  }
  if (jobs_.empty()) {
    return;
  }
  const Job& job = jobs_.front();
  Verdict verdict = verdict_;
  verdict.scheduler = slurmSays(job.id);
  fmt::print(stderr, "\n{}\n", autopsyText(job, verdict, terminalAt(STDERR_FILENO)));
  logAutopsy(directoryOf(job, run_), job, autopsyMarkdown(job, verdict));
}

Remains remainsSince(const JobSelection& place, double since) {
  Remains remains;
  try {
    JobViews found = viewsSince(JobSource(place), since);
    for (const Job& job : jobsOf(std::move(found.views))) {
      for (const DeadRank& dead : judge(job, found.machines).dead) {
        ++remains.died;
        if (dead.cause.kind == Cause::Kind::kLeftEarly && !remains.exitCode) {
          remains.exitCode = std::atoi(dead.rank->state.lastError.c_str() +
                                       std::strlen(steptape::detail::process::kLeftEarly));
        }
      }
    }
  } catch (const std::exception&) {
    return {};  // the launcher's exit code is what is known
  }
  return remains;
}

}  // namespace steptape::tools
