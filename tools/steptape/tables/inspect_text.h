// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tools/steptape/runs/run_summary.h"
#include "tools/steptape/terminal/terminal.h"

namespace steptape::tools {

/// Returns the output of `steptape inspect` for a run: its files, a table of its scalars with their
/// curves, and a table of all other tags.
std::string inspectText(const RunSummary& run, const Terminal& terminal);

}  // namespace steptape::tools
