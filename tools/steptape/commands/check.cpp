// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fmt/format.h>
#include <memory>
#include <string>
#include <unistd.h>
#include <vector>

#include "steptape/log/curve_check.h"
#include "steptape/log/file_check.h"

#include "tools/steptape/commands/commands.h"
#include "tools/steptape/exit_code.h"
#include "tools/steptape/help/value_check.h"
#include "tools/steptape/programs/event_option.h"
#include "tools/steptape/runs/bucket_copies.h"
#include "tools/steptape/runs/log_paths.h"
#include "tools/steptape/runs/name_filter.h"
#include "tools/steptape/tables/check_report.h"
#include "tools/steptape/tables/curve_report.h"
#include "tools/steptape/tables/json_pieces.h"
#include "tools/steptape/terminal/progress.h"
#include "tools/steptape/terminal/standard_streams.h"
#include "tools/steptape/terminal/terminal.h"

namespace steptape::tools {
namespace {

struct CheckArguments {
  std::vector<std::string> paths;
  bool json = false;
  bool values = false;
  NameFilter filter;
  std::vector<std::string> leaveOut;
  std::string onEvent;
};

bool isLossFor(const CheckReport& report) {
  return report.fastServer == ReaderEffect::kLoss || report.pythonLoader == ReaderEffect::kLoss;
}

int check(const CheckArguments& arguments) {
  std::vector<Damage> unreadable;
  const std::vector<RunFiles> runs = runsOf(arguments.paths, &unreadable);
  const Terminal terminal = terminalAt(STDOUT_FILENO);
  Progress progress("checking", totalBytes(runs));
  std::vector<CheckReport> reports;
  std::vector<std::string> runsJson;
  int exitCode = reportProblems(unreadable);
  for (const RunFiles& run : runs) {
    CheckOptions options;
    options.onProgress = progress.part();
    CheckReport report = checkRun(run, options);
    progress.clear();
    for (Finding& finding : report.findings) {
      finding.path = shownPathOf(finding.path);
    }
    if (isLossFor(report)) {
      exitCode = kExitProblem;
    }
    if (arguments.json) {
      runsJson.push_back(runJson(run, report));
    } else {
      for (const Finding& finding : report.findings) {
        fmt::print("{}", findingLine(finding, terminal));
      }
      fmt::print("{}", summaryLine(run, report, terminal));
    }
    report.findings = {};  // printed; a log directory may have thousands of runs
    reports.push_back(std::move(report));
  }

  std::vector<std::string> conflictsJson;
  for (const Finding& finding : findExperimentConflicts(reports)) {
    exitCode = kExitProblem;
    if (arguments.json) {
      conflictsJson.push_back(findingJson(finding));
    } else {
      fmt::print("{}", findingLine(finding, terminal));
    }
  }
  if (arguments.json) {
    fmt::print("{}\n", JsonObject()
                           .add("runs", jsonArray(runsJson))
                           .add("between_runs", jsonArray(conflictsJson))
                           .toString());
  }
  return exitCode;
}

/// How long the user's commands may take after all has been printed.
constexpr std::chrono::minutes kLongestCommands{5};

/// What is wrong with the curves of one run.
struct JudgedRun {
  std::vector<CurveFinding> findings;
  std::size_t tags = 0;
  std::size_t points = 0;
};

JudgedRun judge(const RunReader& run, const CheckArguments& arguments) {
  CurveCheckOptions options;
  for (const std::string& name : arguments.leaveOut) {
    options.leftOut.push_back(curveRuleOf(name));
  }
  JudgedRun judged;
  CurveCheck check(options);
  for (const auto& [tag, series] : run.tags()) {
    const ScalarColumns& points = series.scalars;
    if (points.size() == 0 || !arguments.filter.tag.isFoundIn(tag)) {
      continue;
    }
    for (std::size_t i = 0; i < points.size(); ++i) {
      check.add(tag, points.steps[i], points.values[i], points.wallTimes[i]);
    }
    ++judged.tags;
    judged.points += points.size();
  }
  judged.findings = check.finish();
  return judged;
}

int checkValues(const CheckArguments& arguments) {
  std::vector<Damage> unreadable;
  const std::vector<RunFiles> runs =
      selectRuns(runsOf(arguments.paths, &unreadable), arguments.filter.run);
  const Terminal terminal = terminalAt(STDOUT_FILENO);
  Progress progress("checking", totalBytes(runs));
  int exitCode = reportProblems(unreadable);
  std::vector<std::string> runsJson;
  const auto events = eventCommandOf(arguments.onEvent);
  for (const RunFiles& files : runs) {
    const RunReader run = readRun(files, &progress);
    const JudgedRun judged = judge(run, arguments);
    progress.clear();
    exitCode = std::max({exitCode, reportProblems(run.damage()),
                         judged.findings.empty() ? kExitFine : kExitProblem});
    std::vector<std::string> findingsJson;
    for (const CurveFinding& finding : judged.findings) {
      tellFinding(events.get(), run.directory(), finding);
      if (arguments.json) {
        findingsJson.push_back(curveFindingJson(finding));
      } else {
        fmt::print("{}", curveFindingLine(run.directory(), finding, terminal));
      }
    }
    if (arguments.json) {
      runsJson.push_back(JsonObject()
                             .add("run", jsonString(run.directory()))
                             .add("tags", fmt::to_string(judged.tags))
                             .add("points", fmt::to_string(judged.points))
                             .add("findings", jsonArray(findingsJson))
                             .toString());
    } else {
      fmt::print("{}", curveSummaryLine(run.directory(), judged.tags, judged.points,
                                        judged.findings.size(), terminal));
    }
  }
  if (arguments.json) {
    fmt::print("{}\n", JsonObject().add("runs", jsonArray(runsJson)).toString());
  }
  if (events != nullptr) {
    flushOutput();
    events->drain(kLongestCommands);
  }
  return exitCode;
}

}  // namespace

void addCheckCommand(CLI::App* app, int* exitCode) {
  CLI::App* command = app->add_subcommand(
      "check", "Report what TensorBoard does not show, or what is wrong with curves");
  const auto arguments = std::make_shared<CheckArguments>();
  addPathsArgument(command, &arguments->paths);
  command->add_flag("--json", arguments->json, "Print JSON for programs");
  CLI::Option* const values = command->add_flag(
      "--values", arguments->values,
      "Judge the scalars instead of the files: values that are not finite, spikes, "
      "divergence, standstill, tags that stop");
  addFilterOptions(command, &arguments->filter);
  command->add_option("--leave-out", arguments->leaveOut, "With --values: rules to leave out")
      ->delimiter(',')
      ->check(oneOf(curveRuleNames()))
      ->type_name("RULES");
  addEventOption(command, &arguments->onEvent);
  for (const char* const name : {"--run", "--tag", "--leave-out", "--on-event"}) {
    command->get_option(name)->needs(values);
  }
  command->footer(
      "Prints one line for each finding: the file, the offset of the record, the rule, and the "
      "reader of TensorBoard that is affected: the fast data server, which is the default, or the "
      "Python loader, --load_fast=false. A loss is something that a reader does not show or shows "
      "wrongly; a note is not.\n"
      "\n"
      "With --values, a line for each finding: the run, the rule, the tag, and what was got and "
      "expected.\n"
      "\n"
      "Exit codes: 0 no findings, or only notes, 1 a loss or a finding about a curve, 2 wrong "
      "arguments.\n"
      "\n"
      "Examples:\n"
      "  steptape check runs\n"
      "  steptape check runs/demo/events.out.tfevents.1700000000.host.1.0\n"
      "  steptape check --values runs\n"
      "  steptape check --values runs --tag loss --leave-out spike,parted\n"
      "  steptape check --json runs | jq '.runs[].findings[].rule'");
  command->callback([arguments, exitCode] {
    *exitCode = arguments->values ? checkValues(*arguments) : check(*arguments);
  });
}

}  // namespace steptape::tools
