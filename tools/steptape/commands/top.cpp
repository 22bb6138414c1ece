// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <unistd.h>
#include <utility>
#include <vector>

#include "steptape/base/clock.h"

#include "tools/steptape/commands/commands.h"
#include "tools/steptape/commands/host_options.h"
#include "tools/steptape/exit_code.h"
#include "tools/steptape/help/value_check.h"
#include "tools/steptape/hosts/job_views.h"
#include "tools/steptape/states/rank_view.h"
#include "tools/steptape/states/top_table.h"
#include "tools/steptape/terminal/interruptible_wait.h"
#include "tools/steptape/terminal/live_screen.h"
#include "tools/steptape/terminal/screen_text.h"
#include "tools/steptape/terminal/terminal.h"

namespace steptape::tools {
namespace {

struct TopOptions {
  std::string run;
  JobSelection jobs;
  double interval = 1;
  bool once = false;
  bool json = false;
};

/// Remembers processes whose state has gone, which a normal end removes, for a while.
class EndedRanks {
 public:
  void addTo(std::vector<TopRow>* rows, double now) {
    constexpr double kShown = 60;
    std::map<Key, std::pair<double, TopRow>> next;
    for (const TopRow& row : *rows) {
      next.emplace(keyOf(row), std::make_pair(now, row));
    }
    for (auto& [key, known] : seen_) {
      if (next.count(key) == 0 && now - known.first < kShown) {
        known.second.health = Health::kEnded;
        rows->push_back(known.second);
        next.emplace(key, known);
      }
    }
    seen_ = std::move(next);
  }

 private:
  using Key = std::tuple<std::string, std::uint64_t, std::uint64_t>;
  static Key keyOf(const TopRow& row) {
    return {hostOf(row.rank), row.rank.state.process.pid, row.rank.state.process.box};
  }

  std::map<Key, std::pair<double, TopRow>> seen_;  // when it was there last
};

bool isOver(const Job& job) {
  return std::all_of(job.ranks.begin(), job.ranks.end(),
                     [](const RankView& rank) { return rank.life == Life::kDead; });
}

std::string linesOf(const std::vector<std::string>& texts) {
  std::string lines;
  for (const std::string& text : texts) {
    lines += shownLines(text, terminalAt(STDOUT_FILENO));
  }
  return lines;
}

int top(const TopOptions& options) {
  endOnInterrupt();
  const bool isLive = !options.once && !options.json && terminalAt(STDOUT_FILENO).isTerminal;
  const LiveScreen screen(isLive);
  EndedRanks ended;
  const JobSource source(withJob(options.jobs, options.run));
  // Each look starts a program on each machine, by Slurm a step of the job.
  constexpr double kLeastBetweenQuestions = 5;
  const double interval =
      source.asksOthers() ? std::max(options.interval, kLeastBetweenQuestions) : options.interval;
  bool goesOn = true;
  while (goesOn) {
    JobViews views = source.read();
    std::vector<Job> jobs = jobsOf(std::move(views.views));
    if (options.run.empty()) {
      // Jobs that died keep their states for a long time.
      jobs.erase(std::remove_if(jobs.begin(), jobs.end(), isOver), jobs.end());
    } else if (source.isOfScheduler() && !jobs.empty()) {
      // A number comes again after a reboot of the cluster. The newest job is first.
      jobs.erase(std::remove_if(jobs.begin() + 1, jobs.end(), isOver), jobs.end());
    }
    const double now = Clock::system().wallSeconds();
    std::vector<TopRow> rows = topRows(jobs, now);
    ended.addTo(&rows, now);
    goesOn = screen.show(options.json ? topJson(rows, now) + '\n'
                                      : topText(rows, now, terminalAt(STDOUT_FILENO)) +
                                            linesOf(views.problems) +
                                            (isLive || options.once ? "" : "\n")) &&
             !options.once && waitFor(interval);
  }
  return kExitFine;
}

}  // namespace

void addTopCommand(CLI::App* app, int* exitCode) {
  CLI::App* command = app->add_subcommand("top", "Watch what the ranks of living jobs are doing");
  const auto options = std::make_shared<TopOptions>();
  command->add_option(
      "JOB", options->run,
      "The log directory of a job, or its number in Slurm. Default: all that have a "
      "living process");
  command->add_option("--interval", options->interval, "Time between two looks")
      ->check(inRange(0.05, 86400))
      ->type_name("SECONDS")
      ->capture_default_str();
  command->add_flag("--once", options->once, "Print one table and exit");
  command->add_flag("--json", options->json, "Print one JSON object per look, for programs");
  addHostOptions(command, &options->jobs);
  command->footer(
      "Prints a line for each process of this user that logs with Steptape, until Ctrl-C. BEAT is "
      "the age of the last sign of its background thread, AGE that of its last "
      "step, DOING its collective or its innermost zone, and for how long. STATE is:\n"
      "\n"
      "  dead     it has ended without a normal end; 'steptape autopsy' tells why\n"
      "  stopped  by a signal or a debugger\n"
      "  stuck    others wait for it, or its step takes more than ten times as long as usual\n"
      "  slow     its steps take more than 1.5 times as long as those of the others\n"
      "  waits    in a collective\n"
      "  ended    normally, in the last minute\n"
      "\n"
      "The processes are only read, and not disturbed.\n"
      "\n" +
      std::string(kHostsNote) +
      " Then the time between two looks is at least 5 seconds.\n"
      "\n"
      "Examples:\n"
      "  steptape top\n"
      "  steptape top 4711\n"
      "  steptape top runs/demo --interval 5\n"
      "  steptape top --once --json");
  command->callback([options, exitCode] { *exitCode = top(*options); });
}

}  // namespace steptape::tools
