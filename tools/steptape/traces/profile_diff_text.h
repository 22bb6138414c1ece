// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>

#include "tools/steptape/terminal/terminal.h"
#include "tools/steptape/traces/profile_diff.h"
#include "tools/steptape/traces/profile_text.h"

namespace steptape::tools {

/// What `steptape profile --compare` prints.
///
/// @param names Of the old and of the new profile.
std::string profileDiffText(const ProfileDiff& diff, const std::array<std::string, 2>& names,
                            const OpTableView& view, const Terminal& terminal);

/// The same for programs.
std::string profileDiffJson(const ProfileDiff& diff, const std::array<std::string, 2>& names,
                            const OpTableView& view);

}  // namespace steptape::tools
