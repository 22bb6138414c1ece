// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace steptape::tools {

/// The one of `names` that takes the fewest typing errors to come out as `word`: characters too
/// many, too few, wrong, or in the wrong order.
///
/// @return empty if none is near: more than a third of its characters are wrong.
std::string closestName(const std::string& word, const std::vector<std::string>& names);

}  // namespace steptape::tools
