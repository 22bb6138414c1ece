// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/hosts/slurm_job.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fmt/format.h>
#include <sstream>

#include "base/text.h"
#include "tools/steptape/programs/parallel_programs.h"
#include "tools/steptape/programs/words.h"

namespace steptape::tools {
namespace {

/// A controller that is busy answers late; one that is away makes squeue try for minutes.
constexpr std::chrono::seconds kPatienceWithSlurm{10};

ProgramEnd runOne(const std::vector<std::string>& command) {
  return runAll({command}, kPatienceWithSlurm).front();
}

/// Returns the names that "node[1-3,7]" stands for.
std::vector<std::string> hostsIn(const std::string& list) {
  return list.empty() ? std::vector<std::string>()
                      : wordsOf(runOne({"scontrol", "show", "hostnames", list}).output);
}

/// Returns the value of "Key=value" in a line of scontrol; empty if there is none.
std::string fieldOf(const std::string& line, const std::string& key) {
  for (const std::string& word : wordsOf(line)) {
    if (detail::base::startsWith(word, key + "=")) {
      return word.substr(key.size() + 1);
    }
  }
  return "";
}

bool isDigit(char c) {
  return c >= '0' && c <= '9';
}

}  // namespace

std::vector<SlurmJob> findSlurmJobs(const std::string& id, std::string* problem) {
  const ProgramEnd end = runOne({"squeue", "--noheader", "--jobs=" + id, "--format=%A|%T|%r|%N"});
  std::vector<SlurmJob> jobs;
  std::istringstream lines(end.output);
  std::string line;
  while (std::getline(lines, line)) {
    std::istringstream fields(line);
    SlurmJob job;
    std::string list;
    std::getline(fields, job.id, '|');
    std::getline(fields, job.state, '|');
    std::getline(fields, job.reason, '|');
    std::getline(fields, list);
    job.hosts = hostsIn(list);
    jobs.push_back(std::move(job));
  }
  if (jobs.empty()) {
    *problem = end.exitCode == 0 ? fmt::format("Slurm has no job {} now", id)
                                 : fmt::format("squeue: {}", end.problem);
  }
  return jobs;
}

std::string slurmSays(const std::string& jobId) {
  if (!isJobNumber(jobId)) {
    return "";
  }
  // @source scontrol(1) and "JOB STATE CODES" in squeue(1) of Slurm 22.05
  const std::string line = runOne({"scontrol", "--oneliner", "show", "job", jobId}).output;
  const std::string state = fieldOf(line, "JobState");
  const std::string restarts = fieldOf(line, "Restarts");
  const std::string job = "job " + jobId;
  // Until its processes have ended, the state is COMPLETING.
  if (state == "TIMEOUT" || fieldOf(line, "Reason") == "TimeLimit") {
    return fmt::format("{} reached its time limit of {}", job, fieldOf(line, "TimeLimit"));
  }
  if (state == "CANCELLED") {
    return job + " was canceled";
  }
  if (state == "PREEMPTED") {
    return job + " was preempted by another one";
  }
  if (state == "NODE_FAIL") {
    return fmt::format("a node of {} failed, of {}", job, fieldOf(line, "NodeList"));
  }
  if (state == "OUT_OF_MEMORY") {
    return fmt::format("the memory of {} ran out, {} on each node", job,
                       fieldOf(line, "MinMemoryNode"));
  }
  if (!restarts.empty() && restarts != "0") {
    return fmt::format("{} went back to the queue and is {} now, restart {}", job, state, restarts);
  }
  return "";
}

std::vector<std::string> hostsOfAllocation() {
  const char* const list = std::getenv("SLURM_JOB_NODELIST");
  return std::getenv("SLURM_JOB_ID") == nullptr || list == nullptr ? std::vector<std::string>()
                                                                   : hostsIn(list);
}

std::vector<std::string> slurmShell(const std::string& jobId) {
  // The processors and the memory of the job are its ranks'; --overlap and --mem=0 share them.
  // @source srun(1) of Slurm 22.05
  return {"srun",       "--jobid=" + jobId, "--overlap",    "--mem=0", "--nodes=1",
          "--ntasks=1", "--mpi=none",       "--export=ALL", "--quiet", "--nodelist"};
}

bool isJobNumber(const std::string& text) {
  const std::size_t line = text.find('_');
  const std::string job = text.substr(0, line);
  const std::string element = line == std::string::npos ? "0" : text.substr(line + 1);
  return !job.empty() && !element.empty() && std::all_of(job.begin(), job.end(), isDigit) &&
         std::all_of(element.begin(), element.end(), isDigit);
}

}  // namespace steptape::tools
