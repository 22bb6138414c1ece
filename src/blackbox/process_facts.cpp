// SPDX-License-Identifier: Apache-2.0
#include "blackbox/process_facts.h"

#include <algorithm>
#include <cstdlib>
#include <initializer_list>
#include <string_view>
#include <unistd.h>

#include "base/text.h"
#include "base/whole_file.h"

namespace steptape::detail {
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
  return readWholeFile(path, text).ok() ? text : std::string();
}

/// Returns the number at the start of `text`; -1 if there is none, as for "max".
std::int64_t leadingNumber(const std::string& text) {
  char* end = nullptr;
  const long long number = std::strtoll(text.c_str(), &end, 10);
  return end == text.c_str() ? -1 : number;
}

/// Returns the number after `key` at the start of a line; -1 if there is no such line.
std::int64_t numberAfter(const std::string& text, std::string_view key) {
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    if (startsWith(line, key) && line.size() > key.size() &&
        (line[key.size()] == ' ' || line[key.size()] == '\t')) {
      return leadingNumber(line.substr(key.size() + 1));
    }
    at = end + 1;
  }
  return -1;
}

/// Where the kernel tells about the memory of the cgroup of this process.
struct CgroupFiles {
  std::string folder;  // empty: none
  bool isUnified = true;
};

/// Returns the folder, or the nearest one around it that counts memory: in a container, the path
/// of /proc/self/cgroup may mean something outside.
/// @source cgroups(7), "/proc files"
CgroupFiles findCgroup() {
  const std::string lines = textOfFile("/proc/self/cgroup");
  std::size_t at = 0;
  while (at < lines.size()) {
    const std::size_t end = std::min(lines.find('\n', at), lines.size());
    const std::string line = lines.substr(at, end - at);
    at = end + 1;
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) {
      continue;
    }
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const bool isUnified = controllers == ",,";
    if (!isUnified && controllers.find(",memory,") == std::string::npos) {
      continue;
    }
    const std::string root = isUnified ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory";
    const char* const usage = isUnified ? "/memory.current" : "/memory.usage_in_bytes";
    std::string path = line.substr(second + 1);
    while (true) {
      if (::access((root + path + usage).c_str(), R_OK) == 0) {
        return {root + path, isUnified};
      }
      const std::size_t slash = path.rfind('/');
      if (slash == std::string::npos || path.empty()) {
        break;
      }
      path.resize(slash);
    }
  }
  return {};
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

/// Returns the lowest limit of a cgroup and those around it; -1 if there is none.
std::int64_t unifiedLimit(std::string folder) {
  std::int64_t lowest = -1;
  while (folder.size() > std::string_view("/sys/fs/cgroup").size()) {
    const std::int64_t limit = leadingNumber(textOfFile(folder + "/memory.max"));
    if (limit >= 0 && (lowest < 0 || limit < lowest)) {
      lowest = limit;
    }
    folder.resize(folder.rfind('/'));
  }
  const std::int64_t ofRoot = leadingNumber(textOfFile(folder + "/memory.max"));  // of a container
  return ofRoot >= 0 && (lowest < 0 || ofRoot < lowest) ? ofRoot : lowest;
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
  for (const char* const variable :
       {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "FLUX_JOB_ID", "JOB_ID"}) {
    const char* const text = std::getenv(variable);
    if (text != nullptr && *text != '\0') {
      facts.jobId = text;
      break;
    }
  }
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

bool isTraced() {
  return numberAfter(textOfFile("/proc/self/status"), "TracerPid:") > 0;
}

MemoryUse measureMemory() {
  static const CgroupFiles kCgroup = findCgroup();
  MemoryUse use;
  use.residentBytes = residentBytes();
  if (kCgroup.folder.empty()) {
    return use;
  }
  const auto fileOf = [](const char* name) { return textOfFile(kCgroup.folder + name); };
  if (kCgroup.isUnified) {
    use.cgroupBytes = leadingNumber(fileOf("/memory.current"));
    use.cgroupLimit = unifiedLimit(kCgroup.folder);
    use.oomKills = numberAfter(fileOf("/memory.events"), "oom_kill");
  } else {
    // No limit is a number near 2^63, rounded to pages.
    constexpr std::int64_t kNoLimit = std::int64_t{1} << 60;
    use.cgroupBytes = leadingNumber(fileOf("/memory.usage_in_bytes"));
    use.cgroupLimit = leadingNumber(fileOf("/memory.limit_in_bytes"));
    use.cgroupLimit = use.cgroupLimit > kNoLimit ? -1 : use.cgroupLimit;
    use.oomKills = numberAfter(fileOf("/memory.oom_control"), "oom_kill");
  }
  return use;
}

}  // namespace steptape::detail
