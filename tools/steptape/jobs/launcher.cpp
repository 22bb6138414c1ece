// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/jobs/launcher.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/got_expected.h"
#include "base/text.h"
#include "tools/steptape/programs/silent_program.h"
#include "tools/steptape/programs/words.h"

namespace steptape::tools {
namespace {

using detail::base::contains;

bool isSet(const char* variable) {
  const char* const value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

bool isExecutableFile(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
         ::access(path.c_str(), X_OK) == 0;
}

std::string baseName(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

/// Open MPI exits with code 1, like many a program; so ask beforehand.
void checkUser(const Launcher& launcher) {
  if (launcher.kind != LauncherKind::kOpenMpi || ::geteuid() != 0 ||
      (isSet("OMPI_ALLOW_RUN_AS_ROOT") && isSet("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"))) {
    return;
  }
  for (const std::string& word : launcher.command) {
    if (word == "--allow-run-as-root") {
      return;
    }
  }
  detail::base::reject("the user root, whom Open MPI refuses",
                       "another user; or, in a container, OMPI_ALLOW_RUN_AS_ROOT=1 and "
                       "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 in the environment",
                       "--launcher");
}

Launcher launcherOf(std::vector<std::string> command) {
  if (findProgram(command.front()).empty()) {
    detail::base::reject("no program " + detail::base::quoted(command.front()),
                         "mpiexec, srun, none, or the path of a launcher", "--launcher");
  }
  Launcher launcher{LauncherKind::kSlurm, std::move(command), 0};
  if (baseName(launcher.command.front()) != "srun") {
    const std::string version = outputOf({launcher.command.front(), "--version"});
    launcher.kind = launcherKindOf(version);
    launcher.majorVersion = majorVersionOf(version);
    checkUser(launcher);
  }
  return launcher;
}

Launcher launcherAtHand(int ranks) {
  if (isSet("SLURM_JOB_ID") && !findProgram("srun").empty()) {
    return launcherOf({"srun"});
  }
  for (const char* const name : {"mpiexec", "mpirun"}) {
    if (!findProgram(name).empty()) {
      return launcherOf({name});
    }
  }
  if (ranks > 1) {
    detail::base::reject("no srun, mpiexec or mpirun in PATH",
                         fmt::format("one of them, to start {} ranks", ranks), "--launcher");
  }
  return {};
}

void append(std::vector<std::string>* words, std::vector<std::string> more) {
  words->insert(words->end(), more.begin(), more.end());
}

/// Slots by number, so that more ranks than cores are no error.
std::string openMpiHosts(const std::vector<Host>& hosts) {
  std::string text;
  for (const Host& host : hosts) {
    text += fmt::format("{}{}:{}", text.empty() ? "" : ",", host.name, host.slots);
  }
  return text;
}

std::vector<std::string> hostOptions(const Launcher& launcher, const JobStart& job) {
  if (job.hosts.empty()) {
    return {};
  }
  switch (launcher.kind) {
    case LauncherKind::kOpenMpi:
      return {"--host", openMpiHosts(job.hosts)};
    case LauncherKind::kHydra:
      return {"-machinefile", job.hostFile};
    case LauncherKind::kSlurm:
      return {"--nodes=" + std::to_string(job.hosts.size()), "--nodelist=" + namesOf(job.hosts)};
    case LauncherKind::kNone:
    case LauncherKind::kOther:
      break;
  }
  return {};
}

std::vector<std::string> variableOptions(LauncherKind kind,
                                         const std::vector<std::string>& variables) {
  std::vector<std::string> words;
  for (const std::string& name : variables) {
    const char* const value = std::getenv(name.c_str());
    if (kind == LauncherKind::kOpenMpi) {
      append(&words, {"-x", name});
    } else if (kind == LauncherKind::kHydra && value != nullptr) {
      append(&words, {"-genv", name, value});
    }
  }
  return words;
}

bool hasOption(const std::vector<std::string>& command, const std::string& option) {
  return std::any_of(command.begin(), command.end(), [&option](const std::string& word) {
    return word == option || detail::base::startsWith(word, option + "=");
  });
}

/// Returns what srun does not take from the batch script or the shell that it runs in.
/// @source srun(1) of Slurm 22.05, "--cpus-per-task", "--export", "--overlap"
std::vector<std::string> optionsForAllocation(const std::vector<std::string>& command) {
  std::vector<std::string> options;
  // In the step of an interactive shell, which holds the processors and the memory, another step
  // waits forever, or is refused.
  if (isSet("SLURM_STEP_ID") && !hasOption(command, "--overlap")) {
    options.emplace_back("--overlap");
    if (!hasOption(command, "--mem") && !hasOption(command, "--mem-per-cpu")) {
      options.emplace_back("--mem=0");
    }
  }
  // `sbatch --export=NONE` means the script; each srun in it would pass no variable, not even PATH.
  if (isSet("SLURM_EXPORT_ENV") && !hasOption(command, "--export")) {
    options.emplace_back("--export=ALL");
  }
  if (isSet("SLURM_CPUS_PER_TASK") && !hasOption(command, "--cpus-per-task") &&
      !hasOption(command, "-c")) {
    options.push_back(std::string("--cpus-per-task=") + std::getenv("SLURM_CPUS_PER_TASK"));
  }
  return options;
}

}  // namespace

LauncherKind launcherKindOf(const std::string& version) {
  for (const char* const name : {"Open MPI", "OpenRTE", "PRRTE", "open-mpi.org"}) {
    if (contains(version, name)) {
      return LauncherKind::kOpenMpi;
    }
  }
  for (const char* const name : {"HYDRA", "Hydra", "Intel(R) MPI"}) {
    if (contains(version, name)) {
      return LauncherKind::kHydra;
    }
  }
  return LauncherKind::kOther;
}

int majorVersionOf(const std::string& version) {
  const std::size_t at = version.find(") ");
  return at == std::string::npos ? 0 : std::atoi(version.c_str() + at + 2);
}

Launcher findLauncher(const std::string& text, int ranks) {
  std::vector<std::string> command = wordsOf(text);
  if (command.empty()) {
    return launcherAtHand(ranks);
  }
  if (command.front() != "none") {
    return launcherOf(std::move(command));
  }
  if (ranks > 1) {
    detail::base::reject(fmt::format("none for {} ranks", ranks), "mpiexec or srun", "--launcher");
  }
  return {};
}

void allowMoreRanksThanCores(const Launcher& launcher, const std::vector<Host>& hosts) {
  if (launcher.kind != LauncherKind::kOpenMpi || launcher.command.size() > 1 || !hosts.empty()) {
    return;
  }
  for (const char* const job :
       {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "PE_HOSTFILE", "COBALT_JOBID", "FLUX_JOB_ID"}) {
    if (isSet(job)) {
      return;
    }
  }
  // Each release has a name of its own, and 6 warns of that of 5.
  constexpr int kRenamed = 6;
  const bool isRenamed = launcher.majorVersion >= kRenamed;
  ::setenv("OMPI_MCA_rmaps_base_oversubscribe", "1", 0);  // 4
  ::setenv(isRenamed ? "PRTE_MCA_mapby" : "PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe",
           0);
}

std::string findProgram(const std::string& program) {
  if (contains(program, "/")) {
    return isExecutableFile(program) ? program : "";
  }
  const char* const path = std::getenv("PATH");
  for (const std::string& folder : wordsOf(path == nullptr ? "/usr/bin:/bin" : path, ":")) {
    std::string candidate = folder + '/' + program;
    if (!program.empty() && isExecutableFile(candidate)) {
      return candidate;
    }
  }
  return "";
}

std::string machineFile(const std::vector<Host>& hosts) {
  std::string text;
  for (const Host& host : hosts) {
    text += fmt::format("{}:{}\n", host.name, host.slots);
  }
  return text;
}

void checkHosts(const Launcher& launcher, const std::vector<Host>& hosts) {
  if (!hosts.empty() &&
      (launcher.kind == LauncherKind::kNone || launcher.kind == LauncherKind::kOther)) {
    detail::base::reject(launcher.command.empty()
                             ? "no launcher"
                             : "the unknown launcher " + launcher.command.front(),
                         "that of Open MPI, MPICH, Intel MPI or Slurm", "--hosts");
  }
}

std::vector<std::string> startCommand(const Launcher& launcher, const JobStart& job) {
  std::vector<std::string> words = launcher.command;
  if (launcher.kind != LauncherKind::kNone) {
    append(&words, {"-n", std::to_string(job.ranks)});
  }
  if (launcher.kind == LauncherKind::kSlurm) {
    // The other ranks of a dead one end, and one Ctrl-C ends the job, as with mpiexec.
    append(&words, {"--kill-on-bad-exit=1", "--quit-on-interrupt"});
    append(&words, optionsForAllocation(launcher.command));
  }
  append(&words, hostOptions(launcher, job));
  append(&words, variableOptions(launcher.kind, job.variables));
  append(&words, job.program);
  return words;
}

}  // namespace steptape::tools
