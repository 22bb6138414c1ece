// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/log/run_reader.h"

namespace steptape::detail::log {

/// Which names the runs in linked directories have.
enum class LinkRule : std::uint8_t {
  kEachDirectoryOnce,  ///< A directory has one name, its own if it is below the log directory.
  /// Each path is a run of its own, as for TensorBoard's data server: a link is shown beside the
  /// run that it names. A link to a directory around it is not followed.
  kEachPath,
};

struct FoundRuns {
  std::vector<RunFiles> runs;            ///< In the order of their names.
  std::vector<std::string> directories;  ///< All that were read, also those without runs.
  std::vector<Damage> unreadable;        ///< As for listRuns().
};

/// As listRuns(). @throws Error(kIoError) if `path` does not exist or cannot be read.
STEPTAPE_EXPORT FoundRuns findRuns(const std::string& path, LinkRule links);

}  // namespace steptape::detail::log
