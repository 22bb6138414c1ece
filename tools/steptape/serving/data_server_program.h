// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace steptape::tools {

/// The name by which TensorBoard gets this program as its data server.
inline constexpr std::string_view kDataServerName = "steptape-data-server";

/// Returns whether the program was started by that name.
bool isDataServer(const char* programPath);

/// Runs the program with the options that TensorBoard passes to a data server.
///
/// @return the exit code: 0; 8 for a log directory that cannot be served; 9 if it cannot listen, as
///         tensorboard-data-server's.
int runDataServerProgram(int argc, const char* const* argv);

}  // namespace steptape::tools
