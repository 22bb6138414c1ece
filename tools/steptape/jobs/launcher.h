// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tools/steptape/hosts/host_list.h"

namespace steptape::tools {

/// Programs that start the ranks of a job, by their options and exit codes.
enum class LauncherKind {
  kNone,     ///< The program itself: one rank.
  kOpenMpi,  ///< mpiexec of Open MPI.
  kHydra,    ///< mpiexec of MPICH, MVAPICH and Intel MPI.
  kSlurm,    ///< srun.
  kOther,    ///< Any other mpiexec: only "-n" is known of it.
};

struct Launcher {
  LauncherKind kind = LauncherKind::kNone;
  std::vector<std::string> command;  ///< Such as {"mpiexec", "--bind-to", "core"}; empty for kNone.
  int majorVersion = 0;              ///< Of kOpenMpi; 0: unknown.
};

/// Returns the kind of the mpiexec that prints `version` for "--version".
LauncherKind launcherKindOf(const std::string& version);

/// Returns 5 for "mpiexec (Open MPI) 5.0.7"; 0 if there is no such number.
int majorVersionOf(const std::string& version);

/// Returns the launcher `text`, a command such as "mpiexec --bind-to core" or "none". If it is
/// empty, returns srun in a Slurm allocation, else mpiexec or mpirun, else, for one rank, none.
/// Runs "<command> --version" to find out the kind of an mpiexec.
///
/// @throws Error(kInvalidArgument) if there is no such program, if "none" has to start several
///         ranks, or if Open MPI would refuse to start because the user is root.
Launcher findLauncher(const std::string& text, int ranks);

/// Sets the variables that let Open MPI start more ranks than this machine has cores, as MPICH
/// does, unless someone else decides where ranks go: a scheduler, `hosts`, or options of the
/// launcher.
void allowMoreRanksThanCores(const Launcher& launcher, const std::vector<Host>& hosts);

/// Returns the path of `program` as a shell would find it; empty if there is none that can be
/// executed.
std::string findProgram(const std::string& program);

/// A job that is about to start.
struct JobStart {
  int ranks = 1;
  std::vector<Host> hosts;           ///< Empty: the launcher decides.
  std::string hostFile;              ///< Of kHydra: the path of a file with `machineFile(hosts)`.
  std::vector<std::string> program;  ///< With its arguments.
  /// Names of variables that also reach ranks on other hosts.
  std::vector<std::string> variables;
};

/// Returns the content of a host file for kHydra: "node1:4" lines.
std::string machineFile(const std::vector<Host>& hosts);

/// Checks that ranks can be started on `hosts`.
/// @throws Error(kInvalidArgument) if the launcher's options for hosts are not known.
void checkHosts(const Launcher& launcher, const std::vector<Host>& hosts);

/// Returns the command that starts the job.
/// REQUIRES: checkHosts() succeeds.
std::vector<std::string> startCommand(const Launcher& launcher, const JobStart& job);

}  // namespace steptape::tools
