// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tools/steptape/help/command_info.h"

namespace steptape::tools {

/// Returns the man page of `command`, which is `program` or one of its commands, as roff with the
/// macros of man(7).
std::string manPage(const CommandInfo& command, const CommandInfo& program);

/// Returns the name of the page, "steptape-inspect"; its file has ".1" appended.
std::string manPageName(const CommandInfo& command);

}  // namespace steptape::tools
