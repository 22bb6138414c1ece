// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace steptape::tools {

/// Returns "SIGKILL"; "signal 77" for one without a name.
std::string signalName(int signal);

}  // namespace steptape::tools
