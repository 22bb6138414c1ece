// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <climits>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "steptape/base/status.h"

#include "tools/steptape/commands/commands.h"
#include "tools/steptape/exit_code.h"
#include "tools/steptape/help/value_check.h"
#include "tools/steptape/hosts/job_views.h"
#include "tools/steptape/hosts/slurm_job.h"
#include "tools/steptape/jobs/duration_text.h"
#include "tools/steptape/jobs/job_end.h"
#include "tools/steptape/jobs/job_supervisor.h"
#include "tools/steptape/jobs/program_words.h"
#include "tools/steptape/programs/event_option.h"
#include "tools/steptape/programs/words.h"
#include "tools/steptape/terminal/standard_streams.h"

namespace steptape::tools {
namespace {

constexpr int kMostRanks = 1 << 24;
constexpr int kMostRestarts = 1 << 20;

struct RunOptions {
  int ranks = 0;  // 0: not given
  int maxRestarts = 3;
  std::string logdir;
  std::string launcher;
  std::string hosts;
  int minRanks = 0;  // 0: not given
  std::string pause = "1s";
  std::string maxPause = "60s";
  std::string resetAfter = "10min";
  std::set<int> noRestartCodes;
  std::string remoteShell;
  std::string onEvent;
  std::vector<std::string> program;  // with the marks of withMarkedProgram()
};

/// Returns the tasks of a Slurm allocation, or 1.
int defaultRanks() {
  const char* const tasks = std::getenv("SLURM_NTASKS");
  return tasks == nullptr ? 1 : std::max(1, std::atoi(tasks));
}

JobPlan planOf(const RunOptions& options) {
  JobPlan plan;
  plan.program = unmarkedProgram(options.program);
  if (plan.program.empty()) {
    throw CLI::ValidationError(
        "PROGRAM", fmt::format("got no \"--\" before {}; expected -- PROGRAM [ARGUMENT]...",
                               options.program.front()));
  }
  plan.ranks = options.ranks == 0 ? defaultRanks() : options.ranks;
  plan.minRanks = options.minRanks == 0 ? plan.ranks : options.minRanks;
  if (plan.minRanks > plan.ranks) {
    throw CLI::ValidationError(
        "--min-ranks", fmt::format("got {}; expected at most -n, {}", plan.minRanks, plan.ranks));
  }
  plan.run = options.logdir;
  plan.onEvent = options.onEvent;
  plan.remoteShell = remoteShellOf(options.remoteShell);
  std::string hosts = options.hosts;
  if (options.minRanks != 0 && hosts.empty()) {
    // A node that fails leaves its allocation, but not its list of nodes, if the job has --no-kill.
    hosts = fmt::format("{}", fmt::join(hostsOfAllocation(), ","));
    if (hosts.empty()) {
      throw CLI::ValidationError(
          "--min-ranks",
          "got no --hosts, and no allocation of Slurm; expected hosts that are asked whether they "
          "answer");
    }
    if (options.remoteShell.empty()) {
      plan.remoteShell = slurmShell(std::getenv("SLURM_JOB_ID"));
    }
  }
  plan.noRestartCodes = options.noRestartCodes;
  plan.limits = {options.maxRestarts, *secondsOf(options.pause), *secondsOf(options.maxPause),
                 *secondsOf(options.resetAfter)};
  try {
    if (!hosts.empty()) {
      plan.hosts = hostsOf(hosts, plan.ranks);
    }
    plan.launcher = findLauncher(options.launcher, plan.ranks);
    checkHosts(plan.launcher, plan.hosts);
  } catch (const Error& error) {
    throw CLI::ValidationError(error.what());
  }
  return plan;
}

/// Launchers report a missing program by exit codes of their own, so look beforehand.
///
/// @return the exit code of a shell that cannot execute it; 0 if it is there.
int missingProgram(const JobPlan& plan) {
  const std::string& program = plan.program.front();
  const bool isLooked = plan.launcher.kind == LauncherKind::kOpenMpi ||
                        plan.launcher.kind == LauncherKind::kHydra ||
                        plan.launcher.kind == LauncherKind::kNone;
  if (!isLooked || !plan.hosts.empty() || !findProgram(program).empty() ||
      !findProgram("./" + program).empty()) {
    return 0;
  }
  std::error_code notThere;
  const bool isThere = std::filesystem::exists(program, notThere);
  printMessage(fmt::format("steptape run: cannot start {}: {}; expected a program", program,
                           isThere ? "it cannot be executed" : "there is no such program"));
  return isThere ? kExitCannotExecute : kExitNotFound;
}

int run(const RunOptions& options) {
  const JobPlan plan = planOf(options);
  const int missing = missingProgram(plan);
  return missing != 0 ? missing : JobSupervisor(plan).run();
}

CLI::Validator isDuration() {
  return CLI::Validator(
      [](const std::string& text) {
        return secondsOf(text)
                   ? std::string()
                   : fmt::format("got {}; expected a duration such as 500ms, 1s, 2min or 1h", text);
      },
      "");
}

void addJobOptions(CLI::App* command, RunOptions* options) {
  command
      ->add_option("-n,--ranks", options->ranks,
                   "Number of ranks; in Slurm its tasks, else 1, if not given")
      ->check(inRange(1, kMostRanks))
      ->type_name("N");
  command
      ->add_option("--launcher", options->launcher,
                   "The command that starts ranks, such as 'mpiexec --bind-to core', srun or none; "
                   "found if not given")
      ->type_name("COMMAND");
  command
      ->add_option("--hosts", options->hosts,
                   "Hosts of the ranks: node1,node2:4 with slots, or a host file")
      ->type_name("LIST|FILE");
  command
      ->add_option("--logdir", options->logdir,
                   "Directory of the run, whose steps and checkpoints show progress")
      ->type_name("DIR");
}

void addRestartOptions(CLI::App* command, RunOptions* options) {
  command->add_option("--max-restarts", options->maxRestarts, "How often to start the job again")
      ->check(inRange(0, kMostRestarts))
      ->type_name("N")
      ->capture_default_str();
  command
      ->add_option("--pause", options->pause,
                   "Pause before the first restart; each further one doubles it")
      ->check(isDuration())
      ->type_name("TIME")
      ->capture_default_str();
  command->add_option("--max-pause", options->maxPause, "The longest pause")
      ->check(isDuration())
      ->type_name("TIME")
      ->capture_default_str();
  command
      ->add_option("--reset-after", options->resetAfter,
                   "A job that ran this long and made progress has all restarts again")
      ->check(isDuration())
      ->type_name("TIME")
      ->capture_default_str();
  command
      ->add_option("--no-restart-codes", options->noRestartCodes,
                   "More exit codes after which the job is not started again")
      ->delimiter(',')
      ->check(inRange(1, 255))
      ->type_name("LIST");
  command
      ->add_option(
          "--min-ranks", options->minRanks,
          "Continue with this many ranks if hosts do not answer, those of --hosts or of the "
          "allocation of Slurm; -n if not given")
      ->check(inRange(1, kMostRanks))
      ->type_name("N");
  command
      ->add_option("--rsh", options->remoteShell,
                   "The command that asks a host before each start; $STEPTAPE_RSH, or ssh, if not "
                   "given")
      ->type_name("COMMAND");
}

}  // namespace

void addRunCommand(CLI::App* app, int* exitCode) {
  CLI::App* command =
      app->add_subcommand("run", "Start a job of several ranks, and start it again when it dies");
  const auto options = std::make_shared<RunOptions>();
  command->positionals_at_end();
  command->add_option("PROGRAM", options->program, "The program, with its arguments")
      ->required()
      ->type_name("FILE");
  addJobOptions(command, options.get());
  addRestartOptions(command, options.get());
  addEventOption(command, &options->onEvent);
  command->footer(
      "Starts the job by srun in a Slurm allocation, else by mpiexec of Open MPI, MPICH or Intel "
      "MPI; one rank needs neither. The program itself must continue at its newest checkpoint; a "
      "Trainer does with TrainerOptions::resume. It finds the number of restarts so far in "
      "STEPTAPE_RESTART_COUNT.\n"
      "\n"
      "Not started again is a job that ends with exit code 0, 2 or 64 (wrong arguments), "
      "126 or 127 (no program), 130 or 143 (stopped by SIGINT or SIGTERM; srun and MPICH "
      "end ranks by the latter themselves), or with one of --no-restart-codes; that got "
      "SIGINT, SIGTERM, SIGHUP, SIGQUIT or SIGUSR1 through this command; that runs out of memory "
      "without progress; or that dies 3 times in a row without progress. Progress is a later step "
      "or checkpoint in --logdir; if there is neither, 10 seconds.\n"
      "\n"
      "Signals are passed on to the launcher. A second SIGINT within 10 seconds kills the job. The "
      "job never outlives this command.\n"
      "\n"
      "Exit codes: 0 the job is done, 75 a signal stopped it and it can go on, else that of its "
      "last start, 128 + N for signal N; 2 wrong arguments.\n"
      "\n"
      "Examples:\n"
      "  steptape run -n 4 --logdir runs/demo -- ./train --resume\n"
      "  steptape run -n 8 --hosts node1:4,node2:4 --min-ranks 4 -- ./train --resume\n"
      "  steptape run -n 2 --launcher 'mpiexec --bind-to core' --max-restarts 10 -- ./train");
  command->callback([options, exitCode] { *exitCode = run(*options); });
}

}  // namespace steptape::tools
