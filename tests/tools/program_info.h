// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

#include "tools/steptape/app.h"
#include "tools/steptape/help/command_info.h"

namespace steptape::tools {

/// Returns the program's own command line.
inline CommandInfo program() {
  int exitCode = 0;
  return infoOf(*makeApp(&exitCode));
}

}  // namespace steptape::tools
