// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "steptape/base/export.h"

#include "process/blackbox/box_folder.h"

namespace steptape::detail::log {

/// Returns the directories, absolute paths, of all runs and sub-runs that the box of a process
/// names, whether it lives or not: those that are open, and others if one of them is.
STEPTAPE_EXPORT std::vector<std::string> directoriesOf(const process::BoxName& box);

}  // namespace steptape::detail::log
