// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tools/steptape/runs/run_summary.h"

namespace steptape::tools {

/// Returns one element of "runs" in the output of `steptape inspect --json`.
std::string inspectJson(const RunSummary& run);

}  // namespace steptape::tools
