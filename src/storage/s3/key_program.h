// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "steptape/base/status.h"

namespace steptape::detail::storage {

/// Runs a command of the shell and gets what it prints; what it says of errors goes where those of
/// this process go.
///
/// @return kIoError if it fails, or does not end within a minute: it is killed then.
Status runKeyProgram(const std::string& command, std::string* output);

}  // namespace steptape::detail::storage
