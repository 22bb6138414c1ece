// SPDX-License-Identifier: Apache-2.0
#include "steptape/log/aggregate.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <forward_list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unistd.h>
#include <utility>
#include <vector>

#include "steptape/base/status.h"

#include "log/aggregate/prepare_aggregate.h"
#include "log/writer/whole_run.h"
#include "tools/steptape/commands/commands.h"
#include "tools/steptape/exit_code.h"
#include "tools/steptape/help/value_check.h"
#include "tools/steptape/runs/log_paths.h"
#include "tools/steptape/runs/name_filter.h"
#include "tools/steptape/runs/rounded_scalars.h"
#include "tools/steptape/tables/human_text.h"
#include "tools/steptape/tables/json_pieces.h"
#include "tools/steptape/tables/table.h"
#include "tools/steptape/terminal/progress.h"
#include "tools/steptape/terminal/screen_text.h"
#include "tools/steptape/terminal/standard_streams.h"
#include "tools/steptape/terminal/terminal.h"

namespace steptape::tools {
namespace {

constexpr int kTableIndent = 2;

struct AggregateArguments {
  std::vector<std::string> paths;
  NameFilter filter;
  std::string output;
  bool json = false;
  AggregateOptions options;
};

/// Runs that are aggregated together, and the result.
struct Group {
  std::string output;
  std::vector<std::string> runs;
  AggregateResult result;
};

/// Returns how many runs must have a tag, as aggregateRuns() counts them.
std::size_t fewestRuns(const AggregateOptions& options) {
  return options.minRuns > 0 ? static_cast<std::size_t>(options.minRuns) : 2;
}

/// Groups the runs by their name below their path: runs with the same name are aggregated together.
std::map<std::string, std::vector<RunFiles>> runsByName(const std::vector<std::string>& paths,
                                                        const NamePattern& pattern,
                                                        std::vector<Damage>* unreadable) {
  std::map<std::string, std::vector<RunFiles>> groups;
  for (RunFiles& run : selectRuns(runsOf(paths, unreadable), pattern)) {
    const std::string name = paths.size() == 1 ? "." : run.name;
    groups[name].push_back(std::move(run));
  }
  return groups;
}

/// What the files of runs have that their users should know.
struct RunTroubles {
  std::vector<Damage> damage;
  std::vector<std::string> rounded;
};

Group aggregateGroup(const std::vector<RunFiles>& runs, detail::log::WholeRun* output,
                     const AggregateOptions& options, const NamePattern& tags, Progress* progress,
                     RunTroubles* troubles) {
  Group group{output->directory(), {}, {}};
  std::vector<RunReader> readers;
  for (const RunFiles& run : runs) {
    readers.push_back(readRun(run, progress));
    group.runs.push_back(run.directory);
    const std::vector<Damage>& damage = readers.back().damage();
    troubles->damage.insert(troubles->damage.end(), damage.begin(), damage.end());
    addRoundedNotes(readers.back(), tags, &troubles->rounded);
  }
  group.result = detail::log::prepareAggregate(readers, options, output);
  return group;
}

std::vector<std::string> rowOf(const AggregateSeries& series, const Terminal& terminal) {
  std::vector<std::string> cells{shown(series.tag, terminal), fmt::to_string(series.runs),
                                 fmt::to_string(series.steps), fmt::to_string(series.stepsLeftOut)};
  if (series.points.empty()) {
    cells.resize(9, "-");
    return cells;
  }
  const AggregatePoint& last = series.points.back();
  cells.push_back(fmt::to_string(last.step));
  for (const double value : {last.center, last.std, last.min, last.max}) {
    cells.push_back(shortNumber(value));
  }
  return cells;
}

void print(const Group& group, const AggregateOptions& options, const Terminal& terminal) {
  fmt::print("{}: {} of {}\n", shown(group.output, terminal),
             counted(group.result.series.size(), "scalar"), counted(group.runs.size(), "run"));
  const bool isMean = options.center == AggregateCenter::kMean;
  std::vector<TableColumn> columns{{"scalar", TableColumn::Align::kLeft},
                                   {"runs"},
                                   {"steps"},
                                   {"left out"},
                                   {"last step"},
                                   {isMean ? "mean" : "iqm"},
                                   {"std"},
                                   {"min"},
                                   {"max"}};
  for (const AggregateSeries& series : group.result.series) {
    std::vector<std::string> cells = rowOf(series, terminal);
    for (std::size_t i = 0; i < cells.size(); ++i) {
      columns[i].cells.push_back(std::move(cells[i]));
    }
  }
  fmt::print("{}", tableBelow(std::move(columns), {"left out", "min", "max", "runs", "std"},
                              kTableIndent, terminal));
  for (const std::string& tag : group.result.tagsLeftOut) {
    fmt::print("  left out, because fewer than {} have it (see --min-runs): {}\n",
               counted(fewestRuns(options), "run"), shown(tag, terminal));
  }
  for (const AggregateConflict& conflict : group.result.conflicts) {
    fmt::print("  left out, because both need the name {}: {} and {}; --tag selects one of them\n",
               shown(conflict.name, terminal), shown(conflict.tag, terminal),
               shown(conflict.otherTag, terminal));
  }
}

std::string jsonOf(const AggregateSeries& series) {
  JsonObject json;
  json.add("tag", jsonString(series.tag))
      .add("runs", fmt::to_string(series.runs))
      .add("steps", fmt::to_string(series.steps))
      .add("steps_left_out", fmt::to_string(series.stepsLeftOut));
  if (!series.points.empty()) {
    const AggregatePoint& last = series.points.back();
    json.add("last", JsonObject()
                         .add("step", jsonInteger(last.step))
                         .add("runs", fmt::to_string(last.runs))
                         .add("mean", jsonNumber(last.mean))
                         .add("center", jsonNumber(last.center))
                         .add("std", jsonNumber(last.std))
                         .add("min", jsonNumber(last.min))
                         .add("max", jsonNumber(last.max))
                         .toString());
  }
  return json.toString();
}

std::string jsonOf(const AggregateConflict& conflict) {
  return JsonObject()
      .add("name", jsonString(conflict.name))
      .add("tags", jsonStrings({conflict.tag, conflict.otherTag}))
      .toString();
}

std::string jsonOf(const Group& group) {
  std::vector<std::string> series;
  for (const AggregateSeries& one : group.result.series) {
    series.push_back(jsonOf(one));
  }
  std::vector<std::string> conflicts;
  for (const AggregateConflict& one : group.result.conflicts) {
    conflicts.push_back(jsonOf(one));
  }
  return JsonObject()
      .add("output", jsonString(group.output))
      .add("runs", jsonStrings(group.runs))
      .add("scalars", jsonArray(series))
      .add("tags_left_out", jsonStrings(group.result.tagsLeftOut))
      .add("conflicts", jsonArray(conflicts))
      .toString();
}

void print(const std::vector<Group>& groups, const AggregateOptions& options, bool json) {
  const Terminal terminal = terminalAt(STDOUT_FILENO);
  std::vector<std::string> objects;
  for (const Group& group : groups) {
    if (json) {
      objects.push_back(jsonOf(group));
    } else {
      print(group, options, terminal);
    }
  }
  if (json) {
    fmt::print("{}\n", jsonArray(objects));
  }
}

int aggregate(const AggregateArguments& arguments) {
  RunTroubles troubles;
  const auto runs = runsByName(arguments.paths, arguments.filter.run, &troubles.damage);
  std::uint64_t bytes = 0;
  for (const auto& [name, members] : runs) {
    bytes += totalBytes(members);
  }
  Progress progress("aggregating", bytes);
  AggregateOptions options = arguments.options;
  options.wantsTag = [&](std::string_view tag) { return arguments.filter.tag.isFoundIn(tag); };
  // All of them appear, or none. The last one is in front, since it may be in a directory that was
  // made for an earlier one.
  std::forward_list<detail::log::WholeRun> outputs;
  std::vector<std::pair<const std::vector<RunFiles>*, detail::log::WholeRun*>> jobs;
  std::vector<std::string> alone;
  for (const auto& [name, members] : runs) {
    if (members.size() == 1 && fewestRuns(options) > 1) {
      alone.push_back(members.front().directory);
      continue;
    }
    const std::string output = name == "." ? arguments.output : arguments.output + "/" + name;
    jobs.emplace_back(&members, &outputs.emplace_front(output, "aggregate"));
  }
  std::vector<Group> groups;
  for (const auto& [members, output] : jobs) {
    groups.push_back(
        aggregateGroup(*members, output, options, arguments.filter.tag, &progress, &troubles));
  }
  progress.clear();
  for (const auto& [members, output] : jobs) {
    output->appear();
  }
  if (groups.empty()) {
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format("got {}; expected at least 2 runs of the same name", fmt::join(alone, ", ")));
  }
  print(groups, options, arguments.json);
  for (const std::string& run : alone) {
    printMessage(fmt::format("note: left out, because no other run has its name: {}", run));
  }
  printNotes(troubles.rounded);
  return reportProblems(troubles.damage);
}

const std::map<std::string, AggregateBand>& bandByName() {
  static const std::map<std::string, AggregateBand> kBands{
      {"none", AggregateBand::kNone},
      {"min-max", AggregateBand::kMinMax},
      {"std", AggregateBand::kDeviation},
      {"percentiles", AggregateBand::kPercentiles},
      {"ci", AggregateBand::kConfidence}};
  return kBands;
}

}  // namespace

void addAggregateCommand(CLI::App* app, int* exitCode) {
  CLI::App* command =
      app->add_subcommand("aggregate", "Write mean and spread of several runs as a new run");
  const auto arguments = std::make_shared<AggregateArguments>();
  addPathsArgument(command, &arguments->paths);
  command->add_option("--output", arguments->output, "Directory of the new run")
      ->required()
      ->type_name("DIR");
  addFilterOptions(command, &arguments->filter);
  command
      ->add_option("--min-runs", arguments->options.minRuns,
                   "Keep each tag and each step that at least N runs have; if not given, each tag "
                   "of 2 runs, "
                   "and each step of all runs that have the tag")
      ->check(atLeast(1))
      ->type_name("N");
  command->add_flag("--interpolate", arguments->options.interpolate,
                    "Between two steps of a run, use the value on the line between its points");
  command
      ->add_option("--percentiles", arguments->options.percentiles,
                   "Percentiles to write, in addition to mean, std, min and max")
      ->delimiter(',')
      ->check(inRange(0, 100))
      ->type_name("LIST")
      ->capture_default_str();
  command
      ->add_option_function<std::string>(
          "--band",
          [arguments](const std::string& name) { arguments->options.band = bandByName().at(name); },
          "What the chart on TensorBoard's Custom Scalars page shows around the center; ci: its 95 "
          "% "
          "confidence interval")
      ->check(oneOf({"none", "min-max", "std", "percentiles", "ci"}))
      ->default_str("min-max");
  command
      ->add_option_function<std::string>(
          "--center",
          [arguments](const std::string& name) {
            arguments->options.center =
                name == "iqm" ? AggregateCenter::kInterquartileMean : AggregateCenter::kMean;
          },
          "What stands for all runs at a step: their mean, or that of the middle half of them")
      ->check(oneOf({"mean", "iqm"}))
      ->default_str("mean");
  command->add_flag("--json", arguments->json, "Print JSON for programs instead of a table");
  command->footer(
      "With several paths, runs of the same name below them are aggregated, each name into its "
      "own directory below --output. With one path, all runs below it are.\n"
      "\n"
      "Examples:\n"
      "  steptape aggregate 'runs/seed_*' --output runs/mean\n"
      "  steptape aggregate 'runs/seed_*' --output runs/mean --tag '^loss' --band std\n"
      "  steptape aggregate runs --run 'adam' --output runs/adam_mean --min-runs 3 --interpolate");
  command->callback([arguments, exitCode] { *exitCode = aggregate(*arguments); });
}

}  // namespace steptape::tools
