// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "steptape/base/export.h"

namespace steptape::detail::ranks {

/// Returns what must be equal on all ranks for them to understand each other's messages and shared
/// memory: "Steptape 0.1.0, protocol 2".
STEPTAPE_EXPORT std::string protocolText();

/// @throws Error(kRankMismatch): a rank of the job has `got` where rank 0 has `expected`.
[[noreturn]] STEPTAPE_EXPORT void throwStartMismatch(int rank, const std::string& host,
                                                     const std::string& got,
                                                     const std::string& expected);

}  // namespace steptape::detail::ranks
