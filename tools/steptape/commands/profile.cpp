// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unistd.h>
#include <vector>

#include "steptape/profile/trace_summary.h"

#include "tools/steptape/commands/commands.h"
#include "tools/steptape/exit_code.h"
#include "tools/steptape/help/value_check.h"
#include "tools/steptape/runs/path_check.h"
#include "tools/steptape/tables/human_text.h"
#include "tools/steptape/terminal/output_file.h"
#include "tools/steptape/terminal/standard_streams.h"
#include "tools/steptape/terminal/terminal.h"
#include "tools/steptape/traces/profile_diff.h"
#include "tools/steptape/traces/profile_diff_text.h"
#include "tools/steptape/traces/profile_json.h"
#include "tools/steptape/traces/profile_text.h"
#include "tools/steptape/traces/trace_files.h"
#include "tools/steptape/traces/trace_profile.h"

namespace steptape::tools {
namespace {

struct ProfileOptions {
  std::vector<std::string> paths;
  std::string by = "name";
  std::string sort = "self";
  std::size_t rows = 30;
  bool json = false;
  std::string compare;
  std::optional<double> failAbove;
  std::string output;
};

/// Reports lost spans, for outputs that do not.
void noteDropped(const TraceSet& set) {
  for (std::size_t i = 0; i < set.traces.size(); ++i) {
    if (set.traces[i].dropped > 0) {
      printMessage(fmt::format("note: {} lacks {}, which were lost or could not be read",
                               set.files[i], counted(set.traces[i].dropped, "span")));
    }
  }
}

int show(const ProfileOptions& options, const OpTableView& view) {
  const TraceSet set = readTraces(options.paths);
  const JobProfile job = jobProfileOf(set, view.grouping);
  const Terminal terminal = terminalAt(STDOUT_FILENO);
  if (options.json) {
    fmt::print("{}\n", profileJson(set, job, view));
    noteDropped(set);
  } else if (set.traces.size() == 1) {
    fmt::print("{}", profileText(set, job.ranks.front(), view, terminal));
  } else {
    fmt::print("{}", jobProfileText(set, job, view, terminal));
  }
  return kExitFine;
}

int compare(const ProfileOptions& options, const OpTableView& view) {
  const TraceSet older = readTraces({options.compare});
  const TraceSet newer = readTraces(options.paths);
  const ProfileDiff diff = compareProfiles(older, newer, view.grouping);
  const std::array<std::string, 2> names{options.compare,
                                         fmt::format("{}", fmt::join(options.paths, " "))};
  if (options.json) {
    fmt::print("{}\n", profileDiffJson(diff, names, view));
  } else {
    fmt::print("{}", profileDiffText(diff, names, view, terminalAt(STDOUT_FILENO)));
  }
  noteDropped(older);
  noteDropped(newer);
  if (options.failAbove && diff.growthPercent() > *options.failAbove) {
    flushOutput();
    printMessage(fmt::format("problem: a {} takes {:.1f} % longer; expected at most {:g} %",
                             diff.isPerStep ? "step" : "window", diff.growthPercent(),
                             *options.failAbove));
    return kExitProblem;
  }
  return kExitFine;
}

bool isFolded(const std::string& path) {
  return std::filesystem::path(path).extension() == ".folded";
}

int fold(const ProfileOptions& options) {
  const TraceSet set = readTraces(options.paths);
  OutputFile file(options.output);
  file.write(foldedStacks(ArrayView<const Trace>(set.traces.data(), set.traces.size())));
  file.finish();
  noteDropped(set);
  return kExitFine;
}

int convert(const ProfileOptions& options) {
  if (isFolded(options.output)) {
    return fold(options);
  }
  checkTraceOutput(options.output, 1,
                   ".json, .json.gz, .pftrace, .pftrace.gz, .xplane.pb or .folded");
  const TraceSet set = readTraces(options.paths);
  checkTraceOutput(options.output, set.traces.size());
  writeTraces(options.output, set.traces);
  noteDropped(set);
  return kExitFine;
}

int profile(const ProfileOptions& options, const OpTableView& view) {
  if (!options.output.empty()) {
    return convert(options);
  }
  return options.compare.empty() ? show(options, view) : compare(options, view);
}

/// Pointers, because CLI11 terminates the process if there is no memory to look up an option by its
/// name.
struct ViewOptions {
  CLI::Option* by;
  CLI::Option* top;
  CLI::Option* sort;
};

ViewOptions addViewOptions(CLI::App* command, ProfileOptions* options) {
  ViewOptions view{};
  view.by = command->add_option("--by", options->by, "What makes two calls one row of the table");
  view.by->check(oneOf({"name", "shape", "module", "stack"}))->capture_default_str();
  view.top = command->add_option("--top", options->rows,
                                 "How many operators to show; with --json, all if not given");
  view.top->check(atLeast(0))->type_name("N")->capture_default_str();
  view.sort = command->add_option("--sort", options->sort,
                                  "Which operators come first: those with the largest value");
  view.sort->check(oneOf({"self", "total", "calls"}))->capture_default_str();
  return view;
}

OpTableView viewOf(const CLI::App& command, const ProfileOptions& options) {
  static const std::map<std::string, OpGrouping> kGroupings{{"name", OpGrouping::kName},
                                                            {"shape", OpGrouping::kShape},
                                                            {"module", OpGrouping::kModule},
                                                            {"stack", OpGrouping::kStack}};
  static const std::map<std::string, OpOrder> kOrders{
      {"self", OpOrder::kSelf}, {"total", OpOrder::kTotal}, {"calls", OpOrder::kCalls}};
  const bool isAll = options.json && command.count("--top") == 0;
  return {kGroupings.at(options.by), kOrders.at(options.sort), isAll ? SIZE_MAX : options.rows};
}

}  // namespace

void addProfileCommand(CLI::App* app, int* exitCode) {
  CLI::App* command = app->add_subcommand(
      "profile", "Show where a training step spends its time, on one rank or all");
  const auto options = std::make_shared<ProfileOptions>();
  addTracesArgument(command, &options->paths);
  const ViewOptions view = addViewOptions(command, options.get());
  CLI::Option* const json =
      command->add_flag("--json", options->json, "Print JSON for programs instead of tables");
  CLI::Option* const compareOption =
      command
          ->add_option("--compare", options->compare,
                       "Show what takes longer per step than in this older trace or directory")
          ->type_name("PATH");
  expectPath(compareOption, "trace file");
  compareOption->excludes(view.sort);
  command
      ->add_option("--fail-above", options->failAbove,
                   "With --compare: exit with 1 if a step takes more than this much longer")
      ->needs(compareOption)
      ->check(atLeast(0))
      ->type_name("PERCENT");
  CLI::Option* const output = command->add_option(
      "--output", options->output,
      "Write the traces to this file instead, in the format of its name: .json, .json.gz, "
      ".pftrace, .pftrace.gz, .xplane.pb, or .folded for flamegraph.pl and speedscope");
  output->type_name("FILE");
  for (CLI::Option* const other : {view.by, view.top, view.sort, json, compareOption}) {
    output->excludes(other);
  }
  command->footer(
      "Several traces, in one file or in several, are the ranks of a job: the table of operators "
      "then shows the mean over the ranks, and the maximum with its rank. Self time is the time of "
      "an operator without the operators that it calls.\n"
      "\n"
      "Exit codes: 0 success, 1 a trace cannot be read or written, or --fail-above is exceeded, 2 "
      "wrong arguments.\n"
      "\n"
      "Examples:\n"
      "  steptape profile runs/demo\n"
      "  steptape profile trace.json.gz --by shape --sort total --top 10\n"
      "  steptape profile --compare runs/before runs/after --fail-above 5\n"
      "  steptape profile node7_4242.pt.trace.json.gz --output node7.xplane.pb\n"
      "  steptape profile runs/demo --output demo.folded && flamegraph.pl demo.folded > demo.svg\n"
      "  steptape profile runs/demo --json | jq '.traces[].steps[].total_ms'");
  command->callback(
      [command, options, exitCode] { *exitCode = profile(*options, viewOf(*command, *options)); });
}

}  // namespace steptape::tools
