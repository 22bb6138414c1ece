// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "steptape/log/curve_check.h"

#include "base/json_text.h"

namespace steptape::detail::log {

/// Returns the members of a finding for a JSON object, except its message: `"rule": "spike", …`.
inline std::string findingMembers(const CurveFinding& finding) {
  return "\"rule\": " + base::jsonString(curveRuleName(finding.rule)) +
         ", \"tag\": " + base::jsonString(finding.tag) +
         ", \"step\": " + std::to_string(finding.step) +
         ", \"value\": " + base::jsonNumber(finding.value) +
         ", \"wall_time\": " + base::jsonNumber(finding.wallTime);
}

}  // namespace steptape::detail::log
