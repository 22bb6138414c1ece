// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "steptape/log/file_check.h"
#include "steptape/log/run_reader.h"

#include "tools/steptape/terminal/terminal.h"

namespace steptape::tools {

// The output of `steptape check`, for people and for programs.

/// Returns one line: place, severity, rule, affected reader, and cause.
std::string findingLine(const Finding& finding, const Terminal& terminal);

/// Returns one line: the content of the run, and whether each of TensorBoard's readers shows it.
std::string summaryLine(const RunFiles& run, const CheckReport& report, const Terminal& terminal);

std::string findingJson(const Finding& finding);
std::string runJson(const RunFiles& run, const CheckReport& report);

}  // namespace steptape::tools
