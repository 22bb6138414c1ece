// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unistd.h>
#include <vector>

#include "tools/steptape/commands/commands.h"
#include "tools/steptape/exit_code.h"
#include "tools/steptape/help/value_check.h"
#include "tools/steptape/tables/row_table.h"
#include "tools/steptape/terminal/screen_text.h"
#include "tools/steptape/terminal/standard_streams.h"
#include "tools/steptape/terminal/terminal.h"
#include "tools/steptape/traces/profile_text.h"
#include "tools/steptape/traces/trace_alignment.h"
#include "tools/steptape/traces/trace_files.h"

namespace steptape::tools {
namespace {

struct MergeOptions {
  std::vector<std::string> paths;
  std::string output;
  std::string align = "none";
  std::optional<std::int64_t> step;
};

void checkOptions(const MergeOptions& options) {
  if (options.step && options.align != "step") {
    throw CLI::ValidationError("--step",
                               fmt::format("got --align {}; expected --align step", options.align));
  }
  checkJobTraceOutput(options.output);
}

void print(const MergeOptions& options, const TraceSet& set,
           const std::vector<std::int64_t>& shifts) {
  const Terminal terminal = terminalAt(STDOUT_FILENO);
  const std::vector<std::string> labels = set.longLabels();
  fmt::print("{}", factLines({shown(options.output, terminal),
                              fmt::format("{} processes", set.traces.size())},
                             0, terminal));
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    rows.push_back(i);
  }
  fmt::print(
      "{}",
      tableBelow(
          {wordColumn("process", rows, terminal, [&](std::size_t i) { return labels[i]; }),
           numberColumn("begins at ms", rows,
                        [&](std::size_t i) {
                          return millisecondsText(set.traces[i].originNanos -
                                                  set.traces.front().originNanos);
                        }),
           numberColumn("window ms", rows,
                        [&](std::size_t i) { return millisecondsText(set.traces[i].duration); }),
           numberColumn("shifted by ms", rows,
                        [&](std::size_t i) { return millisecondsText(shifts[i]); })},
          {"window ms", "begins at ms"}, kProfileIndent, terminal));
}

int merge(const MergeOptions& options) {
  static const std::map<std::string, TraceAlignment> kAlignments{{"none", TraceAlignment::kNone},
                                                                 {"start", TraceAlignment::kStart},
                                                                 {"step", TraceAlignment::kStep}};
  TraceSet set = readTraces(options.paths);
  const std::vector<std::int64_t> shifts = align(&set, kAlignments.at(options.align), options.step);
  writeTraces(options.output, set.traces);
  print(options, set, shifts);
  const auto known = std::count_if(set.traces.begin(), set.traces.end(), hasStart);
  if (options.align == "none" && known != 0 &&
      static_cast<std::size_t>(known) != set.traces.size()) {
    flushOutput();
    printMessage("note: not all files say when they began: use --align start, or --align step");
  } else if (options.align == "none" && known == 0 && set.traces.size() > 1) {
    flushOutput();
    printMessage(
        "note: no file says when it began: the traces are drawn as if all had begun at one time");
  } else if (!haveCommonTime(set)) {
    flushOutput();
    printMessage(
        "note: the windows never overlap: their clocks differ, which --align step corrects, or "
        "they are different windows");
  }
  return kExitFine;
}

}  // namespace

void addMergeTracesCommand(CLI::App* app, int* exitCode) {
  CLI::App* command =
      app->add_subcommand("merge-traces", "Merge the traces of several ranks into one file");
  const auto options = std::make_shared<MergeOptions>();
  addTracesArgument(command, &options->paths);
  command
      ->add_option("--output", options->output,
                   "The file to write, .json, .json.gz, .pftrace or .pftrace.gz, which appears "
                   "once it is complete")
      ->required()
      ->type_name("FILE");
  command
      ->add_option(
          "--align", options->align,
          "How to shift traces: none keeps their clocks, start aligns the beginning of all "
          "windows, step the end of a step")
      ->check(oneOf({"none", "start", "step"}))
      ->capture_default_str();
  command
      ->add_option("--step", options->step,
                   "With --align step: which step; if not given, the first that all traces have")
      ->type_name("STEP");
  command->footer(
      "Viewers such as Perfetto show a process for each rank. Steptape's traces have a clock that "
      "all ranks share. PyTorch's have the clocks of their hosts, which --align step corrects: "
      "ranks that wait for each other, for example to average gradients, end a step together.\n"
      "\n"
      "Examples:\n"
      "  steptape merge-traces runs/demo --output merged.json.gz\n"
      "  steptape merge-traces rank0.json rank1.json --output merged.json.gz --align step\n"
      "  steptape merge-traces traces/*.pt.trace.json.gz --output m.json.gz --align step --step "
      "12");
  command->callback([options, exitCode] {
    checkOptions(*options);
    *exitCode = merge(*options);
  });
}

}  // namespace steptape::tools
