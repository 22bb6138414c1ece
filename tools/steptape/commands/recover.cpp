// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <memory>
#include <string>
#include <unistd.h>
#include <vector>

#include "log/writer/recovery.h"
#include "tools/steptape/commands/commands.h"
#include "tools/steptape/commands/host_options.h"
#include "tools/steptape/exit_code.h"
#include "tools/steptape/hosts/job_views.h"
#include "tools/steptape/tables/recovery_text.h"
#include "tools/steptape/terminal/standard_streams.h"
#include "tools/steptape/terminal/terminal.h"

namespace steptape::tools {
namespace {

using steptape::detail::log::RecoveryOptions;
using steptape::detail::log::RecoveryReport;

struct RecoverArguments {
  JobSelection jobs;
  std::vector<std::string> paths;
  bool all = false;
  bool discardMissing = false;
  bool json = false;
};

RecoveryReport recoverAll(const RecoverArguments& arguments, std::vector<std::string>* problems) {
  if (arguments.all) {
    RecoveryOptions options;
    options.discardMissing = arguments.discardMissing;
    return recoverRuns(options);
  }
  JobSelection jobs = arguments.jobs;
  for (const std::string& path : arguments.paths) {
    jobs = withJob(jobs, path);
  }
  RecoveryReport report = JobSource(jobs).recover(arguments.discardMissing, problems);
  report.add(recoverBelow(jobs.paths, arguments.discardMissing));
  return report;
}

int recover(const RecoverArguments& arguments) {
  if (arguments.all != arguments.paths.empty()) {
    throw CLI::ValidationError(
        "recover", arguments.all ? "got --all and a path; expected one of them"
                                 : "got no path; expected a path, or --all for every run");
  }
  std::vector<std::string> problems;
  const RecoveryReport report = recoverAll(arguments, &problems);
  const std::string text = recoveryText(report, terminalAt(STDOUT_FILENO));
  fmt::print("{}", arguments.json ? recoveryJson(report) + '\n'
                   : text.empty() ? "nothing to recover\n"
                                  : text);
  printMessages(problems);
  return problems.empty() && !hasProblem(report) ? kExitFine : kExitProblem;
}

}  // namespace

void addRecoverCommand(CLI::App* app, int* exitCode) {
  CLI::App* command = app->add_subcommand(
      "recover", "Bring into runs what killed programs had logged and not yet written");
  const auto arguments = std::make_shared<RecoverArguments>();
  command->add_option("PATH", arguments->paths,
                      "A run, a directory of runs, or the number of a job "
                      "in Slurm");
  command->add_flag("--all", arguments->all, "Every run of this user on this machine");
  command->add_flag("--discard-missing", arguments->discardMissing,
                    "Drop what belongs to directories that do not exist any more");
  command->add_flag("--json", arguments->json, "Print JSON for programs");
  addHostOptions(command, &arguments->jobs);
  command->footer(
      "A program that logs keeps its scalars in memory that outlives it, until they are in the "
      "event files. The next program that logs into the same run recovers them, and so do this "
      "command and 'steptape tail'. It must run on the machine, and in the container, where the "
      "program was killed, before the next boot. Inside an allocation of Slurm, with the number of "
      "a "
      "job that still has one, or with --hosts it asks the other machines to do the same; their "
      "log "
      "directory must be the same one.\n"
      "\n"
      "Bytes that are in the files stay unchanged. Programs that still run are left alone.\n"
      "\n"
      "Exit codes: 0 recovered, or nothing to recover, 1 something is damaged or could not be "
      "written, 2 wrong arguments.\n"
      "\n"
      "Examples:\n"
      "  steptape recover runs\n"
      "  steptape recover --all");
  command->callback([arguments, exitCode] { *exitCode = recover(*arguments); });
}

}  // namespace steptape::tools
