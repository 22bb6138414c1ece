// SPDX-License-Identifier: Apache-2.0
#include "process/blackbox/process_facts.h"

#include <cstdlib>
#include <initializer_list>
#include <string_view>
#include <unistd.h>
#include <vector>

#include "base/control_group_directories.h"
#include "base/number_text.h"
#include "base/whole_file.h"
#include "process/blackbox/job_identity.h"

namespace steptape::detail::process {
namespace {

/// Returns the number in the first of the variables that holds one; -1 if none does.
int numberIn(std::initializer_list<const char*> variables) {
  for (const char* const variable : variables) {
    const char* const text = std::getenv(variable);
    if (text != nullptr && *text != '\0') {
      char* end = nullptr;
      const long number = std::strtol(text, &end, 10);
      if (*end == '\0' && number >= 0 && number < (1L << 30)) {
        return static_cast<int>(number);
      }
    }
  }
  return -1;
}

std::string textOfFile(const std::string& path) {
  std::string text;
  return base::readWholeFile(path, text).ok() ? text : std::string();
}

/// Returns the number at the start of `text`; -1 if there is none, as for "max".
std::int64_t leadingNumber(const std::string& text) {
  char* end = nullptr;
  const long long number = std::strtoll(text.c_str(), &end, 10);
  return end == text.c_str() ? -1 : number;
}

std::int64_t residentBytes() {
  // Pages: all, resident, …
  const std::string text = textOfFile("/proc/self/statm");
  const std::size_t space = text.find(' ');
  if (space == std::string::npos) {
    return -1;
  }
  const std::int64_t pages = leadingNumber(text.substr(space + 1));
  return pages < 0 ? -1 : pages * ::sysconf(_SC_PAGESIZE);
}

/// No limit is a number near 2^63, rounded to pages, or the word "max".
bool isLimit(std::int64_t bytes) {
  return bytes >= 0 && bytes < std::int64_t{1} << 60;
}

/// A group of processes whose memory is limited.
struct MemoryGroup {
  std::string directory;
  std::int64_t limit = -1;
};

/// Returns the group with the lowest limit, and of equal ones the outermost: all processes of a job
/// then look at the same one, which outlives each of them. Without a limit, the innermost.
MemoryGroup memoryGroupOf(const base::ControlGroupDirectories& groups) {
  MemoryGroup found;
  for (const std::string& directory : groups.directories) {
    const char* const file = groups.isVersion2 ? "/memory.max" : "/memory.limit_in_bytes";
    const char* const usage = groups.isVersion2 ? "/memory.current" : "/memory.usage_in_bytes";
    const std::int64_t limit = leadingNumber(textOfFile(directory + file));
    if (isLimit(limit) && (found.limit < 0 || limit <= found.limit)) {
      found = {directory, limit};
    } else if (found.directory.empty() && ::access((directory + usage).c_str(), R_OK) == 0) {
      found.directory = directory;
    }
  }
  return found;
}

/// A group without a limit counts its own kills alone: it is as good as all of the machine.
KernelKills killsOf(const MemoryGroup& group, bool isVersion2) {
  return {group.directory, isVersion2, !isVersion2 && group.limit >= 0};
}

/// Looked for once: a process rarely changes its group.
const base::ControlGroupDirectories& ownMemoryGroups() {
  static const auto kGroups = base::ControlGroupDirectories::find("memory", "/proc", "/sys");
  return kGroups;
}

}  // namespace

JobFacts jobFacts() {
  JobFacts facts;
  facts.rank = numberIn({"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "RANK"});
  facts.worldSize = numberIn({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "WORLD_SIZE"});
  facts.localRank =
      numberIn({"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID", "LOCAL_RANK"});
  if (facts.rank < 0) {
    // Last: in a step without srun, Slurm sets these for the whole allocation.
    facts.rank = numberIn({"SLURM_PROCID"});
    facts.worldSize = numberIn({"SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"});
  }
  facts.jobId = schedulerJobNumber(variableOfProcess);
  return facts;
}

std::string commandLine() {
  std::string text = textOfFile("/proc/self/cmdline");
  while (!text.empty() && text.back() == '\0') {
    text.pop_back();
  }
  std::replace(text.begin(), text.end(), '\0', ' ');
  return text;
}

bool isBeingDebugged() {
  return base::numberAfter(textOfFile("/proc/self/status"), "TracerPid:").value_or(0) > 0;
}

MemoryUse measureMemory(const base::ControlGroupDirectories& groups) {
  MemoryUse use;
  use.residentBytes = residentBytes();
  const MemoryGroup group = memoryGroupOf(groups);
  if (!group.directory.empty()) {
    use.cgroupLimit = group.limit;
    use.cgroupBytes = leadingNumber(textOfFile(
        group.directory + (groups.isVersion2 ? "/memory.current" : "/memory.usage_in_bytes")));
    use.oomKills = killsOf(group, groups.isVersion2).count();
  }
  return use;
}

MemoryUse measureMemory() {
  return measureMemory(ownMemoryGroups());
}

KernelKills kernelKillsOfOwnGroup() {
  const base::ControlGroupDirectories& groups = ownMemoryGroups();
  return killsOf(memoryGroupOf(groups), groups.isVersion2);
}

}  // namespace steptape::detail::process
