// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace steptape::tools {

/// Returns the name that turns into `word` with the fewest typing errors: extra, missing, wrong or
/// swapped characters.
///
/// @return empty if every name needs errors in more than a third of its characters.
std::string closestName(const std::string& word, const std::vector<std::string>& names);

}  // namespace steptape::tools
