// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "steptape/log/log_dir.h"

#include "tools/steptape/runs/name_filter.h"

namespace steptape::tools {

/// Returns logs of all runs at and below `paths` whose directory contains a match of `run`, for
/// commands that follow them. A path below another one is followed once. update() of each reads, on
/// all processors.
///
/// @param onProgress As RunReaderOptions::onProgress, for each log by itself.
std::vector<LogDir> followedLogs(const std::vector<std::string>& paths, const NamePattern& run,
                                 std::function<void(std::uint64_t bytes)> onProgress = {});

}  // namespace steptape::tools
