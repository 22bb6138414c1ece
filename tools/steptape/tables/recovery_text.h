// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "log/writer/recovery.h"
#include "tools/steptape/terminal/terminal.h"

namespace steptape::tools {

/// Returns the report for people; empty if there was nothing to recover.
std::string recoveryText(const steptape::detail::log::RecoveryReport& report,
                         const Terminal& terminal);

/// Returns the report as one JSON object.
std::string recoveryJson(const steptape::detail::log::RecoveryReport& report);

/// Returns whether something is damaged or could not be written.
bool hasProblem(const steptape::detail::log::RecoveryReport& report);

}  // namespace steptape::tools
