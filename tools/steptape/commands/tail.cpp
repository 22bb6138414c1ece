// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <fmt/format.h>
#include <map>
#include <memory>
#include <string>
#include <unistd.h>
#include <vector>

#include "steptape/base/status.h"
#include "steptape/log/curve_check.h"

#include "log/writer/recovery.h"
#include "tools/steptape/commands/commands.h"
#include "tools/steptape/exit_code.h"
#include "tools/steptape/help/value_check.h"
#include "tools/steptape/programs/event_option.h"
#include "tools/steptape/runs/log_paths.h"
#include "tools/steptape/runs/point_follower.h"
#include "tools/steptape/tables/curve_report.h"
#include "tools/steptape/tables/human_text.h"
#include "tools/steptape/tables/json_pieces.h"
#include "tools/steptape/terminal/interruptible_wait.h"
#include "tools/steptape/terminal/screen_text.h"
#include "tools/steptape/terminal/standard_streams.h"
#include "tools/steptape/terminal/terminal.h"

namespace steptape::tools {
namespace {

struct TailOptions {
  std::vector<std::string> paths;
  NameFilter filter;
  double interval = 1;
  std::size_t lines = 10;
  bool once = false;
  bool json = false;
  bool check = false;
  std::string onEvent;
};

/// Prints points as lines; columns are as wide as the widest name so far.
class PointPrinter {
 public:
  PointPrinter(bool json, const Terminal& terminal) : json_(json), terminal_(terminal) {}

  /// @return false when the reader of the output has closed it.
  bool print(const std::vector<NewPoint>& points) {
    for (const NewPoint& point : points) {
      fmt::print("{}\n", json_ ? jsonLine(point) : line(point));
    }
    return std::fflush(stdout) == 0;
  }

 private:
  static constexpr int kTimeColumns = 23;  // of "2026-11-21 19:33:19.097"

  static std::string jsonLine(const NewPoint& point) {
    return JsonObject()
        .add("wall_time", jsonNumber(point.wallTime))
        .add("run", jsonString(*point.run))
        .add("tag", jsonString(*point.tag))
        .add("step", jsonInteger(point.step))
        .add("value", jsonNumber(point.value))
        .toString();
  }

  std::string line(const NewPoint& point) {
    return fmt::format("{:<{}}  ", humanTime(point.wallTime), kTimeColumns) +
           aligned(*point.run, &runColumns_) + "  " + aligned(*point.tag, &tagColumns_) + "  " +
           fmt::format("{:>8}  {:.6g}", point.step, point.value);
  }

  std::string aligned(const std::string& name, int* columns) const {
    constexpr int kMost = 40;  // One long name must not push all others off the screen.
    const std::string text = shown(name, terminal_);
    const int width = columnsOf(text);
    *columns = std::max(*columns, std::min(width, kMost));
    return text + spaces(*columns - width);
  }

  bool json_;
  Terminal terminal_;
  int runColumns_ = 0;
  int tagColumns_ = 0;
};

/// Reports restarts, replaced files, rounded integers and damage.
/// @return whether there is damage.
bool reportTrouble(const RunNews& news) {
  for (const std::string& directory : news.restarted) {
    printMessage("note: " + directory + " restarted, which discarded points after its checkpoint");
  }
  for (const std::string& file : news.replaced) {
    printMessage("note: " + file + " was truncated or replaced; read from its start again");
  }
  printNotes(news.rounded);
  return reportProblems(news.damage) != kExitFine;
}

/// Judges the curves of all runs while they grow.
class CurveJudge {
 public:
  CurveJudge(bool json, const std::string& onEvent)
      : json_(json), terminal_(terminalAt(STDOUT_FILENO)), events_(eventCommandOf(onEvent)) {}

  /// Prints what new points show, each finding once.
  void take(const std::vector<NewPoint>& points) {
    for (const NewPoint& point : points) {
      checks_[*point.run].add(*point.tag, point.step, point.value, point.wallTime);
    }
    for (auto& [run, check] : checks_) {
      for (const CurveFinding& finding : check.finish()) {
        tellFinding(events_.get(), run, finding);
        fmt::print("{}", json_ ? JsonObject()
                                         .add("run", jsonString(run))
                                         .add("finding", curveFindingJson(finding))
                                         .toString() +
                                     '\n'
                               : "finding: " + curveFindingLine(run, finding, terminal_));
      }
    }
  }

 private:
  const bool json_;
  const Terminal terminal_;
  std::map<std::string, CurveCheck> checks_;  // by the directory of the run
  const std::unique_ptr<steptape::detail::process::EventCommand> events_;  // null: none
};

/// Brings into the runs what killed programs have left.
/// @return whether something is damaged or could not be written.
bool recover(const std::vector<std::string>& paths) {
  bool hadTrouble = false;
  for (const std::string& path : paths) {
    steptape::detail::log::RecoveryOptions options;
    options.directory = path;
    options.below = true;
    for (const auto& process : recoverRuns(options).processes) {
      printMessage(fmt::format("note: process {} was killed; {} recovered", process.pid,
                               counted(process.values, "value")));
      for (const std::string& problem : process.problems) {
        printMessage(problem);
        hadTrouble = true;
      }
    }
  }
  return hadTrouble;
}

int tail(const TailOptions& options) {
  const bool hadDamage = recover(options.paths);
  PointFollower runs(options.paths, options.filter);
  // To judge a curve takes all of its points.
  RunNews news = options.check ? runs.update() : runs.update(options.lines);
  CurveJudge judge(options.json, options.onEvent);
  if (options.check) {
    judge.take(news.points);
    const std::size_t more = news.points.size() - std::min(news.points.size(), options.lines);
    news.points.erase(news.points.begin(), news.points.begin() + static_cast<std::ptrdiff_t>(more));
  }
  if (!runs.hasRuns()) {
    const std::string message = noEventFileIn(options.paths);
    if (options.once) {
      throw Error(ErrorCode::kIoError, message);
    }
    printMessage("note: " + message + " yet; waiting");
  }
  bool hadTrouble = reportTrouble(news) || hadDamage;
  endOnInterrupt();
  PointPrinter printer(options.json, terminalAt(STDOUT_FILENO));
  while (printer.print(news.points) && !options.once && waitFor(options.interval)) {
    news = runs.update();
    hadTrouble = reportTrouble(news) || hadTrouble;
    if (options.check) {
      judge.take(news.points);
    }
  }
  return hadTrouble ? kExitProblem : kExitFine;
}

}  // namespace

void addTailCommand(CLI::App* app, int* exitCode) {
  CLI::App* command = app->add_subcommand("tail", "Follow the scalars of runs while they train");
  const auto options = std::make_shared<TailOptions>();
  addPathsArgument(command, &options->paths);
  addFilterOptions(command, &options->filter);
  command->add_option("--interval", options->interval, "Time between two looks at the files")
      ->check(inRange(0.05, 86400))
      ->type_name("SECONDS")
      ->capture_default_str();
  command->add_option("--lines", options->lines, "How many of the last points to print first")
      ->check(atLeast(0))
      ->type_name("COUNT")
      ->capture_default_str();
  command->add_flag("--once", options->once, "Print these points and exit");
  command->add_flag("--json", options->json, "Print one JSON object per line, for programs");
  CLI::Option* const check = command->add_flag(
      "--check", options->check,
      "Also print what is wrong with the curves, as 'steptape check --values' does");
  addEventOption(command, &options->onEvent)->needs(check);
  command->footer(
      "Prints lines of time, run, tag, step and value, also from new files and new runs, until "
      "Ctrl-C or until the reader of its output exits. First recovers, as 'steptape recover' does, "
      "what killed programs had logged and not yet written.\n"
      "\n"
      "Examples:\n"
      "  steptape tail runs\n"
      "  steptape tail runs/demo --tag loss --interval 5\n"
      "  steptape tail runs --lines 1 --once --tag '^accuracy$'");
  command->callback([options, exitCode] { *exitCode = tail(*options); });
}

}  // namespace steptape::tools
