// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/commands/host_options.h"

#include <CLI/CLI.hpp>
#include <unistd.h>

#include "tools/steptape/hosts/slurm_job.h"

namespace steptape::tools {

void addHostOptions(CLI::App* command, JobSelection* jobs) {
  command
      ->add_option(
          "--hosts", jobs->hosts,
          "Machines to ask as well: node1,node2, or a host file. Default: those of the job "
          "in Slurm")
      ->type_name("LIST|FILE");
  command
      ->add_option("--rsh", jobs->remoteShell,
                   "The command that reaches a machine of --hosts; $STEPTAPE_RSH, or ssh, if not "
                   "given")
      ->type_name("COMMAND");
}

JobSelection withJob(JobSelection jobs, const std::string& named) {
  if (isJobNumber(named) && ::access(named.c_str(), F_OK) != 0) {
    jobs.job = named;
  } else if (!named.empty()) {
    jobs.paths.push_back(named);
  }
  return jobs;
}

}  // namespace steptape::tools
