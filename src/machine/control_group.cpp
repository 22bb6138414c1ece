// SPDX-License-Identifier: Apache-2.0
#include "machine/control_group.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <unistd.h>
#include <vector>

#include "machine/system_file.h"

namespace steptape::detail {
namespace {

/// A hierarchy of control groups: where it is mounted, and where in it the process is.
struct Hierarchy {
  bool isVersion2 = false;
  std::string mount;
  std::string path;
};

bool namesController(std::string_view list, std::string_view controller) {
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(','), list.size());
    if (list.substr(0, end) == controller) {
      return true;
    }
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return false;
}

/// Returns the hierarchy that has a controller, from a text such as "4:memory:/job_7\n0::/\n".
Hierarchy hierarchyOf(std::string_view controller, std::string_view groups,
                      const std::string& sysDirectory) {
  const std::string mounts = sysDirectory + "/fs/cgroup";
  Hierarchy found;
  while (!groups.empty()) {
    const std::size_t end = std::min(groups.find('\n'), groups.size());
    const std::string_view line = groups.substr(0, end);
    groups.remove_prefix(std::min(end + 1, groups.size()));
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string_view::npos || second == std::string_view::npos) {
      continue;
    }
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    const std::string path(line.substr(second + 1));
    if (namesController(controllers, controller)) {
      return {false, mounts + "/" + std::string(controller), path};
    }
    if (controllers.empty()) {
      // Next to hierarchies of version 1, that of version 2 has a place of its own.
      const std::string beside = mounts + "/unified";
      found = {true, ::access(beside.c_str(), F_OK) == 0 ? beside : mounts, path};
    }
  }
  return found;
}

/// Returns the directories of the process's group and of those around it, from the inside.
///
/// In a container, the path may be that of the host, of which only the end is mounted. Its
/// directories do not exist then, and the last one is that of the container.
std::vector<std::string> directoriesOf(const Hierarchy& hierarchy) {
  std::vector<std::string> directories;
  if (hierarchy.mount.empty()) {
    return directories;
  }
  std::string path = hierarchy.path == "/" ? "" : hierarchy.path;
  while (!path.empty()) {
    directories.push_back(hierarchy.mount + path);
    const std::size_t slash = path.rfind('/');
    path.resize(slash == std::string::npos ? 0 : slash);
  }
  directories.push_back(hierarchy.mount);
  return directories;
}

std::optional<std::uint64_t> numberIn(const std::string& path) {
  const std::string text = systemFile(path);
  std::string_view rest = text;
  return takeNumber(&rest);  // none in "max"
}

/// Version 1 states the largest number of pages where there is no limit.
bool isLimit(std::uint64_t bytes) {
  return bytes < std::uint64_t{1} << 60;
}

bool hasQuota(const std::string& directory, bool isVersion2) {
  // "-1" and "max" are no numbers.
  return numberIn(directory + (isVersion2 ? "/cpu.max" : "/cpu.cfs_quota_us")).has_value();
}

double numberOrUnknown(const std::string& path) {
  const std::optional<std::uint64_t> number = path.empty() ? std::nullopt : numberIn(path);
  return number ? static_cast<double>(*number) : MachineSample::kUnknown;
}

}  // namespace

ControlGroup::ControlGroup(const std::string& procDirectory, const std::string& sysDirectory) {
  const std::string groups = systemFile(procDirectory + "/self/cgroup");
  const Hierarchy memory = hierarchyOf("memory", groups, sysDirectory);
  std::optional<std::uint64_t> strictest;
  for (const std::string& directory : directoriesOf(memory)) {
    const std::string file =
        directory + (memory.isVersion2 ? "/memory.max" : "/memory.limit_in_bytes");
    const std::optional<std::uint64_t> limit = numberIn(file);
    if (limit && isLimit(*limit) && (!strictest || *limit < *strictest)) {
      strictest = limit;
      memoryLimit_ = file;
      memoryUsage_ = directory + (memory.isVersion2 ? "/memory.current" : "/memory.usage_in_bytes");
    }
  }
  const Hierarchy processor = hierarchyOf("cpu", groups, sysDirectory);
  for (const std::string& directory : directoriesOf(processor)) {
    if (hasQuota(directory, processor.isVersion2)) {
      processorStatistics_ = directory + "/cpu.stat";
      break;
    }
  }
}

void ControlGroup::read(MachineSample* sample) {
  sample->groupMemoryBytes = numberOrUnknown(memoryUsage_);
  sample->groupMemoryLimitBytes = numberOrUnknown(memoryLimit_);
  if (!processorStatistics_.empty()) {
    const std::string statistics = systemFile(processorStatistics_);
    const double periods = periods_.difference(numberAfter(statistics, "nr_periods "));
    const double throttled = throttledPeriods_.difference(numberAfter(statistics, "nr_throttled "));
    // A group that did nothing has no periods.
    sample->groupThrottledPercent =
        periods > 0 ? 100 * throttled / periods : MachineSample::kUnknown;
  }
}

}  // namespace steptape::detail
