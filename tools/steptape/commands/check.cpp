// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <cstdio>
#include <fmt/core.h>
#include <memory>
#include <string>
#include <unistd.h>
#include <vector>

#include "steptape/log/file_check.h"

#include "tools/steptape/commands/commands.h"
#include "tools/steptape/exit_code.h"
#include "tools/steptape/runs/log_paths.h"
#include "tools/steptape/tables/check_report.h"
#include "tools/steptape/tables/json_pieces.h"
#include "tools/steptape/terminal/progress.h"
#include "tools/steptape/terminal/terminal.h"

namespace steptape::tools {
namespace {

struct CheckArguments {
  std::vector<std::string> paths;
  bool json = false;
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

}  // namespace

void addCheckCommand(CLI::App* app, int* exitCode) {
  CLI::App* command =
      app->add_subcommand("check", "Report what TensorBoard does not show, and why");
  const auto arguments = std::make_shared<CheckArguments>();
  addPathsArgument(command, &arguments->paths);
  command->add_flag("--json", arguments->json, "Print JSON for programs");
  command->footer(
      "Prints one line for each finding: the file, the offset of the record, the rule, and the "
      "reader of TensorBoard that is affected: the fast data server, which is the default, or the "
      "Python loader, --load_fast=false. A loss is something that a reader does not show or shows "
      "wrongly; a note is not.\n"
      "\n"
      "Exit codes: 0 no findings, or only notes, 1 a loss, 2 wrong arguments.\n"
      "\n"
      "Examples:\n"
      "  steptape check runs\n"
      "  steptape check runs/demo/events.out.tfevents.1700000000.host.1.0\n"
      "  steptape check --json runs | jq '.runs[].findings[].rule'");
  command->callback([arguments, exitCode] { *exitCode = check(*arguments); });
}

}  // namespace steptape::tools
