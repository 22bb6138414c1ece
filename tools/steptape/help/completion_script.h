// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tools/steptape/help/command_info.h"

namespace steptape::tools {

// Returns scripts with which a shell completes the program's commands, options, their values and
// paths. REQUIRES of all: `program` is the whole program.

/// For bash 4 and newer; does not need the package bash-completion.
std::string bashCompletion(const CommandInfo& program);

/// For zsh's compsys: as a file _steptape in $fpath, or sourced.
std::string zshCompletion(const CommandInfo& program);

/// For fish 3 and newer.
std::string fishCompletion(const CommandInfo& program);

}  // namespace steptape::tools
