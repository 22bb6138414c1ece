// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "steptape/base/export.h"

namespace steptape::detail::base {

/// The control groups of this process that have a controller.
///
/// The group of the process or a group around it may set a limit: under Slurm, for example, that of
/// the step and of the job.
struct STEPTAPE_EXPORT ControlGroupDirectories {
  bool isVersion2 = false;
  /// The directory of the process's group and those of the groups around it, from the inside; empty
  /// if there are none. In a container, the path may be that of the host, of which only the end is
  /// mounted. Its directories do not exist then, and the last one is that of the container.
  std::vector<std::string> directories;

  /// @param controller Such as "memory" or "cpu".
  /// @source cgroups(7), "/proc files"
  static ControlGroupDirectories find(std::string_view controller, const std::string& procDirectory,
                                      const std::string& sysDirectory);
};

}  // namespace steptape::detail::base
