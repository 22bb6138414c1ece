// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace steptape::tools {

/// What Slurm knows about a job.
struct SlurmJob {
  std::string id;      ///< The number that its processes have in SLURM_JOB_ID.
  std::string state;   ///< "RUNNING".
  std::string reason;  ///< Why it is in that state; may be "None".
  std::vector<std::string> hosts;
};

/// Asks Slurm about a job, or all elements of an array that it still knows.
///
/// @param id "70", "70_3".
/// @param problem Set to why nothing is known; left as it is otherwise.
std::vector<SlurmJob> findSlurmJobs(const std::string& id, std::string* problem);

/// Returns how Slurm ended a job, or started it again: "job 40 reached its time limit of 00:01:00";
/// empty if it did neither, or does not know the job any more, by default five minutes after its
/// end.
std::string slurmSays(const std::string& jobId);

/// Returns the hosts of the allocation in which this process runs; empty outside, or if Slurm's
/// commands do not tell.
std::vector<std::string> hostsOfAllocation();

/// Returns the words of `srun` that run a program on one host of a job, beside its ranks; the name
/// of the host follows them.
std::vector<std::string> slurmShell(const std::string& jobId);

/// Returns whether a text is the number of a job, or of an element of an array: "70", "70_3".
bool isJobNumber(const std::string& text);

}  // namespace steptape::tools
