// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tools/steptape/help/command_info.h"

namespace steptape::tools {

/// The manual page of `command`, a command of `program` or that itself, as roff with the macros of
/// man(7).
std::string manPage(const CommandInfo& command, const CommandInfo& program);

/// What the page is called, and its file with ".1" behind it: "steptape-inspect".
std::string manPageName(const CommandInfo& command);

}  // namespace steptape::tools
