// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "process/blackbox/rank_state.h"

namespace steptape::tools {

/// Returns a line for each frame, innermost first: "nextBatch() at loader.cpp:31  train(+0x1b2c)",
/// with the address that addr2line takes. "/usr/bin/train(+0x1b2c)" if the function is unknown, as
/// on another machine or in a stripped file. The bare address if it lies in no known file.
std::vector<std::string> stackLines(const steptape::detail::process::RankState& state);

}  // namespace steptape::tools
