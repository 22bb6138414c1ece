// SPDX-License-Identifier: Apache-2.0
// The commands autopsy and dump: one report, about dead jobs and about living ones.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <memory>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

#include "steptape/base/status.h"

#include "tools/steptape/commands/commands.h"
#include "tools/steptape/commands/host_options.h"
#include "tools/steptape/exit_code.h"
#include "tools/steptape/hosts/job_views.h"
#include "tools/steptape/hosts/slurm_job.h"
#include "tools/steptape/states/autopsy_json.h"
#include "tools/steptape/states/autopsy_text.h"
#include "tools/steptape/states/rank_view.h"
#include "tools/steptape/states/state_trace.h"
#include "tools/steptape/states/verdict.h"
#include "tools/steptape/tables/human_text.h"
#include "tools/steptape/tables/json_pieces.h"
#include "tools/steptape/terminal/output_file.h"
#include "tools/steptape/terminal/standard_streams.h"
#include "tools/steptape/terminal/terminal.h"
#include "tools/steptape/traces/trace_files.h"

namespace steptape::tools {
namespace {

struct AutopsyArguments {
  JobSelection jobs;
  std::string process;  // of dump
  std::string markdown;
  std::string trace;
  bool all = false;
  bool json = false;
};

void report(const AutopsyArguments& arguments, const std::vector<Job>& jobs,
            const std::vector<Surroundings>& machines) {
  const std::size_t count = arguments.all ? jobs.size() : 1;
  const Terminal terminal = terminalAt(STDOUT_FILENO);
  std::string markdown;
  std::vector<std::string> objects;
  std::vector<Trace> traces;
  for (std::size_t i = 0; i < count; ++i) {
    Verdict verdict = judge(jobs[i], machines);
    if (!verdict.dead.empty()) {
      verdict.scheduler = slurmSays(jobs[i].id);
    }
    if (arguments.json) {
      objects.push_back(autopsyJson(jobs[i], verdict));
    } else {
      fmt::print("{}{}", i == 0 ? "" : "\n", autopsyText(jobs[i], verdict, terminal));
    }
    if (!arguments.trace.empty()) {
      for (Trace& trace : stateTraces(jobs[i], verdict)) {
        traces.push_back(std::move(trace));
      }
    }
    markdown += (i == 0 ? "" : "\n") + autopsyMarkdown(jobs[i], verdict);
  }
  if (arguments.json) {
    fmt::print("{}\n", JsonObject().add("jobs", jsonArray(objects)).toString());
  }
  if (!arguments.markdown.empty()) {
    OutputFile file(arguments.markdown);
    file.write(markdown);
    file.finish();
  }
  if (!arguments.trace.empty()) {
    writeTraces(arguments.trace, traces);
  }
  if (count < jobs.size()) {
    printMessage(fmt::format("note: {} left out, which ended earlier; --all shows all",
                             counted(jobs.size() - count, "job")));
  }
}

int reportJobs(const AutopsyArguments& arguments) {
  JobViews found = JobSource(arguments.jobs).read();
  const std::vector<Job> jobs = jobsOf(std::move(found.views));
  printMessages(found.problems);
  if (jobs.empty()) {
    throw Error(ErrorCode::kIoError,
                "no state of a process is here: its processes ended normally, ran on another "
                "machine, or the machine was booted since. 'steptape inspect' shows what they "
                "logged");
  }
  report(arguments, jobs, found.machines);
  return found.problems.empty() ? kExitFine : kExitProblem;
}

/// Reports the job of one process, or of a log directory.
int dump(AutopsyArguments arguments) {
  const bool isNumber = !arguments.process.empty() &&
                        arguments.process.find_first_not_of("0123456789") == std::string::npos;
  std::vector<std::string> problems;
  for (Job& job : isNumber ? jobsOf(readViews({}, &problems)) : std::vector<Job>()) {
    if (std::any_of(job.ranks.begin(), job.ranks.end(), [&](const RankView& rank) {
          return fmt::to_string(rank.state.process.pid) == arguments.process;
        })) {
      report(arguments, {std::move(job)}, {surroundingsHere()});
      return kExitFine;
    }
  }
  arguments.jobs = withJob(arguments.jobs, arguments.process);
  return reportJobs(arguments);
}

void addReportOptions(CLI::App* command, AutopsyArguments* arguments) {
  command->add_flag("--json", arguments->json, "Print JSON for programs");
  command->add_option("--markdown", arguments->markdown, "Also write the report as a page")
      ->type_name("FILE");
  command
      ->add_option("--trace", arguments->trace,
                   "Also write the last seconds of all ranks as a timeline for Perfetto, .json, "
                   ".json.gz, .pftrace or .pftrace.gz")
      ->type_name("FILE");
  addHostOptions(command, &arguments->jobs);
}

void checkReportOptions(const AutopsyArguments& arguments) {
  if (!arguments.trace.empty()) {
    checkJobTraceOutput(arguments.trace, "--trace");
  }
}

}  // namespace

void addAutopsyCommand(CLI::App* app, int* exitCode) {
  CLI::App* command =
      app->add_subcommand("autopsy", "Tell what a dead or hanging job died of or waits for");
  const auto arguments = std::make_shared<AutopsyArguments>();
  command->add_option(
      "PATH", arguments->jobs.paths,
      "A log directory, files of states, a directory of them, or the number of a job "
      "in Slurm");
  command->add_flag("--all", arguments->all, "Every job, not only the last one");
  addReportOptions(command, arguments.get());
  command->footer(
      "A program that logs with Steptape keeps what it is doing in memory that outlives it. This "
      "command reads that of all ranks: who died first and of what, which "
      "collective the others wait in and for whom, where each rank was, and the last scalars. "
      "Without PATH, it reports the last job of this user on this machine.\n"
      "\n"
      "The memory is lost with the next boot of its machine. What was recovered is in the log "
      "directory, in black_box. Files steptape-*.state that were copied from /dev/shm into one "
      "directory can be named as well.\n"
      "\n" +
      std::string(kHostsNote) +
      "\n"
      "\n"
      "Nothing is changed.\n"
      "\n"
      "Examples:\n"
      "  steptape autopsy runs/demo\n"
      "  steptape autopsy collected --markdown report.md\n"
      "  steptape autopsy runs/demo --trace last_seconds.json.gz\n"
      "  steptape autopsy --all --json");
  command->callback([arguments, exitCode] {
    checkReportOptions(*arguments);
    if (arguments->jobs.paths.size() == 1) {
      const std::string path = arguments->jobs.paths.front();
      arguments->jobs.paths.clear();
      arguments->jobs = withJob(arguments->jobs, path);
    }
    *exitCode = reportJobs(*arguments);
  });
}

void addDumpCommand(CLI::App* app, int* exitCode) {
  CLI::App* command =
      app->add_subcommand("dump", "Tell what each rank of a living job is doing, once");
  const auto arguments = std::make_shared<AutopsyArguments>();
  command
      ->add_option("JOB", arguments->process,
                   "The number of one of its processes or of the job in Slurm, or its log "
                   "directory")
      ->required();
  addReportOptions(command, arguments.get());
  command->footer(
      "The report of 'steptape autopsy', about a job that runs. The job is not disturbed: no "
      "signal is sent, and no process is stopped.\n"
      "\n" +
      std::string(kHostsNote) +
      "\n"
      "\n"
      "Examples:\n"
      "  steptape dump 20913\n"
      "  steptape dump runs/demo --trace now.json.gz\n"
      "  steptape dump runs/demo --json");
  command->callback([arguments, exitCode] {
    checkReportOptions(*arguments);
    *exitCode = dump(*arguments);
  });
}

}  // namespace steptape::tools
