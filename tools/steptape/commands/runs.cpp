// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

#include "steptape/base/clock.h"
#include "steptape/base/status.h"

#include "tools/steptape/columnar/column_file.h"
#include "tools/steptape/commands/commands.h"
#include "tools/steptape/exit_code.h"
#include "tools/steptape/help/value_check.h"
#include "tools/steptape/runs/bucket_copies.h"
#include "tools/steptape/runs/followed_logs.h"
#include "tools/steptape/runs/log_paths.h"
#include "tools/steptape/runs/name_filter.h"
#include "tools/steptape/runs/rounded_scalars.h"
#include "tools/steptape/runs/run_columns.h"
#include "tools/steptape/runs/run_condition.h"
#include "tools/steptape/runs/run_overview.h"
#include "tools/steptape/tables/runs_table.h"
#include "tools/steptape/terminal/interruptible_wait.h"
#include "tools/steptape/terminal/live_screen.h"
#include "tools/steptape/terminal/output_file.h"
#include "tools/steptape/terminal/progress.h"
#include "tools/steptape/terminal/standard_streams.h"
#include "tools/steptape/terminal/terminal.h"

namespace steptape::tools {
namespace {

struct RunsArguments {
  std::vector<std::string> paths;
  NamePattern run;
  std::vector<std::string> metrics;
  std::vector<std::string> conditions;
  std::string sort;
  bool reverse = false;
  std::size_t top = 0;
  bool all = false;
  std::string format = "table";
  bool json = false;
  std::string output;
  bool watch = false;
  double interval = 2;
};

/// With few tags, the table shows all of them.
constexpr std::size_t kFewTags = 4;

/// What the table shows, and what its readers should know.
struct RunsView {
  std::vector<RunOverview> runs;
  RunsColumns columns;
  std::vector<std::string> notes;
};

std::set<std::string> scalarTagsOf(const std::vector<RunOverview>& runs) {
  std::set<std::string> tags;
  for (const RunOverview& run : runs) {
    for (const auto& [tag, series] : run.run->tags()) {
      if (series.scalars.size() > 0) {
        tags.insert(tag);
      }
    }
  }
  return tags;
}

std::vector<RunColumn> metricColumns(const RunsArguments& arguments,
                                     const std::vector<RunOverview>& runs,
                                     std::vector<std::string>* notes) {
  std::vector<RunColumn> columns;
  for (const std::string& name : arguments.metrics) {
    RunColumn column = metricColumnOf(name, runs, "--metric");
    const auto isSame = [&](const RunColumn& known) { return known.name == column.name; };
    if (std::none_of(columns.begin(), columns.end(), isSame)) {
      columns.push_back(std::move(column));
    }
  }
  if (!arguments.metrics.empty()) {
    return columns;
  }
  const std::set<std::string> tags = scalarTagsOf(runs);
  if (tags.size() > kFewTags && arguments.format == "table") {
    notes->push_back(
        fmt::format("{} scalar tags; --metric chooses which of them to show, such as "
                    "--metric '{}' or --metric '{}:min'",
                    tags.size(), *tags.begin(), *tags.begin()));
    return columns;
  }
  for (const std::string& tag : tags) {
    columns.push_back({RunColumn::Kind::kMetric, tag, {tag, Metric::Of::kLast}});
  }
  return columns;
}

void addRoundedNotes(const RunsView& view, std::vector<std::string>* notes) {
  std::set<std::string> tags;
  for (const RunOverview& run : view.runs) {
    for (const RunColumn& column : view.columns.metrics) {
      const auto series = run.run->tags().find(column.metric.tag);
      if (series != run.run->tags().end() && series->second.isRounded) {
        tags.insert(column.metric.tag);
      }
    }
  }
  for (const std::string& tag : tags) {
    notes->push_back(roundedNote(tag));
  }
}

/// @throws Error(kInvalidArgument) for a name that no run has.
RunsView viewOf(const std::vector<LogDir>& logs, const RunsArguments& arguments, double now) {
  RunsView view;
  const RunStates states;
  for (const LogDir& log : logs) {
    for (const auto& [name, run] : log.runs()) {
      view.runs.push_back(overviewOf(run, states));
    }
  }
  // By the names of all runs: a filter that leaves none is no error in a name.
  view.columns.metrics = metricColumns(arguments, view.runs, &view.notes);
  const RunColumn order =
      columnOf(arguments.sort.empty() ? "run" : arguments.sort, view.runs, "--sort");
  std::vector<RunCondition> conditions;
  for (const std::string& condition : arguments.conditions) {
    conditions.emplace_back(condition, view.runs);
  }
  const auto isLeftOut = [&](const RunOverview& run) {
    return !std::all_of(conditions.begin(), conditions.end(), [&](const RunCondition& condition) {
      return condition.holdsFor(run, now);
    });
  };
  view.runs.erase(std::remove_if(view.runs.begin(), view.runs.end(), isLeftOut), view.runs.end());
  sortRuns(&view.runs, order, arguments.reverse, now);
  if (arguments.top > 0 && view.runs.size() > arguments.top) {
    view.runs.resize(arguments.top);
  }
  const bool isTable = arguments.format == "table";
  view.columns.hparams = hparamColumns(view.runs, isTable && !arguments.all);
  // What the order of a table follows is shown.
  auto* const group = order.kind == RunColumn::Kind::kMetric   ? &view.columns.metrics
                      : order.kind == RunColumn::Kind::kHparam ? &view.columns.hparams
                                                               : nullptr;
  const auto isSame = [&](const RunColumn& column) { return column.name == order.name; };
  if (isTable && group != nullptr && std::none_of(group->begin(), group->end(), isSame)) {
    group->push_back(order);
  }
  setTitles(&view.columns,
            isTable                      ? RunsForm::kTable
            : arguments.format == "json" ? RunsForm::kJson
                                         : RunsForm::kFile,
            &view.notes);
  addRoundedNotes(view, &view.notes);
  return view;
}

void write(const RunsView& view, const RunsArguments& arguments) {
  OutputFile output(arguments.output);
  const std::string csv = runsCsv(view.runs, view.columns);
  if (arguments.format == "csv") {
    output.write(csv);
  } else {
    ColumnFile file(
        arguments.format, [&](std::string_view bytes) { output.write(bytes); },
        typesOf(view.runs, view.columns));
    file.write(csv);
    file.finish();
  }
  output.finish();
}

/// Reports what could not be read, each problem once.
class ProblemReport {
 public:
  void add(const std::vector<LogDir>& logs) {
    std::vector<Damage> news;
    const auto take = [&](const std::vector<Damage>& all) {
      for (const Damage& damage : all) {
        if (known_.emplace(damage.path, damage.offset).second) {
          news.push_back(damage);
        }
      }
    };
    for (const LogDir& log : logs) {
      take(log.unreadable());
      for (const auto& [name, run] : log.runs()) {
        take(run.damage());
      }
    }
    exitCode_ = std::max(exitCode_, reportProblems(news));
  }
  int exitCode() const { return exitCode_; }

 private:
  std::set<std::pair<std::string, std::uint64_t>> known_;  // path and offset
  int exitCode_ = kExitFine;
};

/// Lists the runs that are meant.
/// @throws Error(kIoError) if there is none.
std::vector<RunFiles> runsMeantBy(const RunsArguments& arguments) {
  std::vector<Damage> unreadable;  // the logs find them too
  return selectRuns(runsOf(arguments.paths, &unreadable), arguments.run);
}

/// The progress bar of the first reading, which needs a second list of all directories, and is
/// therefore begun late.
struct FirstReading {
  const std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
  std::optional<Progress> progress;
  std::uint64_t before = 0;  // bytes of other logs
  std::uint64_t reached = 0;
  bool hasEnded = false;

  void reach(std::uint64_t bytes, const RunsArguments& arguments) {
    constexpr std::chrono::milliseconds kLate{400};
    reached = before + bytes;
    if (hasEnded || std::chrono::steady_clock::now() - start < kLate) {
      return;
    }
    if (!progress) {
      progress.emplace("reading", totalBytes(runsMeantBy(arguments)));
    }
    progress->set(reached);
  }
};

/// Reads the runs for the first time.
/// @param arguments Outlives the result.
/// @throws Error(kIoError) if there is none.
std::vector<LogDir> readLogs(const RunsArguments& arguments) {
  const auto reading = std::make_shared<FirstReading>();
  std::vector<LogDir> logs = followedLogs(
      arguments.paths, arguments.run,
      [reading, &arguments](std::uint64_t bytes) { reading->reach(bytes, arguments); });
  bool hasRuns = false;
  for (LogDir& log : logs) {
    log.update();
    reading->before = reading->reached;
    hasRuns = hasRuns || !log.runs().empty();
  }
  reading->hasEnded = true;
  reading->progress.reset();
  if (!hasRuns) {
    static_cast<void>(runsMeantBy(arguments));  // throws, and says why
  }
  return logs;
}

RunsView firstViewOf(const std::vector<LogDir>& logs, const RunsArguments& arguments, double now) {
  try {
    return viewOf(logs, arguments, now);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kInvalidArgument) {
      throw CLI::ValidationError(error.what());
    }
    throw;
  }
}

int showRuns(const RunsArguments& arguments) {
  std::vector<LogDir> logs = readLogs(arguments);
  ProblemReport problems;
  problems.add(logs);
  double now = Clock::system().wallSeconds();
  RunsView view = firstViewOf(logs, arguments, now);
  printNotes(view.notes);
  if (arguments.format != "table" && arguments.format != "json") {
    write(view, arguments);
    return problems.exitCode();
  }
  if (arguments.watch) {
    endOnInterrupt();
  }
  const Terminal terminal = terminalAt(STDOUT_FILENO);
  const LiveScreen screen(arguments.watch && terminal.isTerminal && arguments.format == "table");
  const auto show = [&] {
    return screen.show(arguments.format == "json"
                           ? runsJson(view.runs, view.columns, now) + '\n'
                           : runsText(view.runs, view.columns, now, terminal));
  };
  while (show() && arguments.watch && waitFor(arguments.interval)) {
    updateBucketCopies();
    for (LogDir& log : logs) {
      log.update();
    }
    problems.add(logs);
    now = Clock::system().wallSeconds();
    view = viewOf(logs, arguments, now);
  }
  return problems.exitCode();
}

void checkArguments(RunsArguments* arguments) {
  const bool isFile = arguments->format != "table" && arguments->format != "json";
  if (arguments->json) {
    if (isFile) {
      throw CLI::ValidationError("--json", "not with --format " + arguments->format);
    }
    arguments->format = "json";
  }
  if (arguments->watch && isFile) {
    throw CLI::ValidationError("--watch", "only for --format table and json");
  }
  if (!arguments->output.empty() && !isFile) {
    throw CLI::ValidationError("--output", "only for --format csv, parquet and arrow");
  }
  const bool isBinary = isFile && arguments->format != "csv";
  if (isBinary && arguments->output.empty() && isatty(STDOUT_FILENO) != 0) {
    throw CLI::ValidationError(
        "--output",
        "got none; expected a file, because a terminal cannot show --format " + arguments->format);
  }
}

}  // namespace

void addRunsCommand(CLI::App* app, int* exitCode) {
  CLI::App* command =
      app->add_subcommand("runs", "Show all runs as one table: hyperparameters, metrics, state");
  const auto arguments = std::make_shared<RunsArguments>();
  addPathsArgument(command, &arguments->paths);
  addPatternOption(command, "--run", &arguments->run, "Only runs whose directory contains a match");
  command
      ->add_option("--metric", arguments->metrics,
                   "A scalar to show: TAG or TAG:last, TAG:min, TAG:max; may be repeated")
      ->type_name("METRIC")
      ->allow_extra_args(false);
  command
      ->add_option("--where", arguments->conditions,
                   "Only runs for which this holds, such as 'lr>0.01'; may be repeated")
      ->type_name("CONDITION")
      ->allow_extra_args(false);
  command
      ->add_option("--sort", arguments->sort,
                   "Sort by this column: ascending, and TAG:max descending. Default: run")
      ->type_name("COLUMN");
  command->add_flag("--reverse", arguments->reverse, "Sort the other way round");
  command->add_option("--top", arguments->top, "Only the first COUNT runs; 0: all")
      ->check(atLeast(0))
      ->type_name("COUNT")
      ->capture_default_str();
  command->add_flag("--all", arguments->all,
                    "Also show hyperparameters that are equal in all runs");
  command->add_option("--format", arguments->format, "The last two need a Python with pyarrow")
      ->check(oneOf({"table", "json", "csv", "parquet", "arrow"}))
      ->capture_default_str();
  command->add_flag("--json", arguments->json, "The same as --format json");
  command
      ->add_option("--output", arguments->output,
                   "The file to write, which appears once it is complete; standard output if not "
                   "given")
      ->type_name("FILE");
  command->add_flag("--watch", arguments->watch, "Show the table again and again, until Ctrl-C");
  command->add_option("--interval", arguments->interval, "With --watch: time between two looks")
      ->check(inRange(0.05, 86400))
      ->type_name("SECONDS")
      ->capture_default_str();
  command->footer(
      "COLUMN is run, state, step, trained, age, sessions, a hyperparameter or a metric; trained "
      "and "
      "age are in seconds. CONDITION compares a column by <, <=, =, !=, >= or >, trained and age "
      "also with durations such as 10:00 or 1h30min. STATE is:\n"
      "\n"
      "  running  a process writes the run, on this machine or on another one\n"
      "  hanging  it is stopped, or its steps do not come any more\n"
      "  killed   it ended without an end of its own; 'steptape autopsy' tells why\n"
      "  failed   it said so\n"
      "  ended    normally\n"
      "  -        another library wrote the run, and nothing tells\n"
      "\n"
      "Examples:\n"
      "  steptape runs runs\n"
      "  steptape runs runs --metric val/loss:min --sort val/loss:min --top 10\n"
      "  steptape runs runs --where 'lr>0.01' --where 'state=killed'\n"
      "  steptape runs runs --format csv --output runs.csv\n"
      "  steptape runs runs --watch");
  command->callback([arguments, exitCode] {
    checkArguments(arguments.get());
    *exitCode = showRuns(*arguments);
  });
}

}  // namespace steptape::tools
