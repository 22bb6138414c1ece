// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tools/steptape/traces/profile_text.h"
#include "tools/steptape/traces/trace_files.h"
#include "tools/steptape/traces/trace_profile.h"

namespace steptape::tools {

/// Returns the output of `steptape profile --json`.
std::string profileJson(const TraceSet& set, const JobProfile& job, const OpTableView& view);

/// Formats nanoseconds as milliseconds.
std::string jsonMilliseconds(std::int64_t nanos);

}  // namespace steptape::tools
