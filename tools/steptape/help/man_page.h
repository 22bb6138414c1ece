// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tools/steptape/help/command_info.h"

namespace steptape::tools {

/// The man page of `command`, which is `program` or one of its commands, as roff with the macros of
/// man(7).
std::string manPage(const CommandInfo& command, const CommandInfo& program);

/// The name of the page, and with ".1" of its file: "steptape-inspect".
std::string manPageName(const CommandInfo& command);

}  // namespace steptape::tools
