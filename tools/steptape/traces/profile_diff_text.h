// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>

#include "tools/steptape/terminal/terminal.h"
#include "tools/steptape/traces/profile_diff.h"
#include "tools/steptape/traces/profile_text.h"

namespace steptape::tools {

/// Returns the output of `steptape profile --compare`.
///
/// @param names Of the old and of the new profile.
std::string profileDiffText(const ProfileDiff& diff, const std::array<std::string, 2>& names,
                            const OpTableView& view, const Terminal& terminal);

/// Returns the same as JSON.
std::string profileDiffJson(const ProfileDiff& diff, const std::array<std::string, 2>& names,
                            const OpTableView& view);

}  // namespace steptape::tools
