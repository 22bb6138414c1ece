// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "steptape/log/curve_check.h"

#include "tools/steptape/terminal/terminal.h"

namespace steptape::tools {

// What is wrong with the curves of a run, for people and for programs.

/// Returns one line: run, rule, tag and cause.
std::string curveFindingLine(const std::string& run, const CurveFinding& finding,
                             const Terminal& terminal);

/// Returns one line: how many tags and points were judged.
std::string curveSummaryLine(const std::string& run, std::size_t tags, std::size_t points,
                             std::size_t findings, const Terminal& terminal);

std::string curveFindingJson(const CurveFinding& finding);

/// Returns the names of all rules.
std::vector<std::string> curveRuleNames();
/// REQUIRES: one of curveRuleNames()
CurveRule curveRuleOf(const std::string& name);

}  // namespace steptape::tools
