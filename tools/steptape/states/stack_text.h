// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "blackbox/rank_state.h"

namespace steptape::tools {

/// Returns a line for each frame, innermost first: "train(+0x1b2c)", the path's last part and the
/// offset in the file, or the bare address if it lies in no known file.
std::vector<std::string> stackLines(const steptape::detail::RankState& state);

}  // namespace steptape::tools
