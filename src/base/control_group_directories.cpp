// SPDX-License-Identifier: Apache-2.0
#include "base/control_group_directories.h"

#include <algorithm>
#include <unistd.h>

#include "base/whole_file.h"

namespace steptape::detail::base {
namespace {

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

/// A hierarchy of control groups: where it is mounted, and where in it the process is.
struct Hierarchy {
  bool isVersion2 = false;
  std::string mount;
  std::string path;
};

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

}  // namespace

ControlGroupDirectories ControlGroupDirectories::find(std::string_view controller,
                                                      const std::string& procDirectory,
                                                      const std::string& sysDirectory) {
  ControlGroupDirectories groups;
  std::string text;
  if (!readWholeFile(procDirectory + "/self/cgroup", text).ok()) {
    return groups;
  }
  const Hierarchy hierarchy = hierarchyOf(controller, text, sysDirectory);
  groups.isVersion2 = hierarchy.isVersion2;
  if (hierarchy.mount.empty()) {
    return groups;
  }
  std::string path = hierarchy.path == "/" ? "" : hierarchy.path;
  while (!path.empty()) {
    groups.directories.push_back(hierarchy.mount + path);
    const std::size_t slash = path.rfind('/');
    path.resize(slash == std::string::npos ? 0 : slash);
  }
  groups.directories.push_back(hierarchy.mount);
  return groups;
}

}  // namespace steptape::detail::base
