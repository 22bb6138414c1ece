// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "steptape/base/status.h"

namespace steptape::detail::log {

class RunContext;

/// Writes every scalar in the event files of `run` to `path`:
/// SummaryWriter::exportScalarsToJson(). The file appears under its name only when it is complete.
Status exportScalars(const RunContext& run, const std::string& path);

}  // namespace steptape::detail::log
