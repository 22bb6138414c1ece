// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tools/steptape/traces/profile_text.h"
#include "tools/steptape/traces/trace_files.h"
#include "tools/steptape/traces/trace_profile.h"

namespace steptape::tools {

/// What `steptape profile --json` prints.
std::string profileJson(const TraceSet& set, const JobProfile& job, const OpTableView& view);

/// Nanoseconds as milliseconds.
std::string jsonMilliseconds(std::int64_t nanos);

}  // namespace steptape::tools
