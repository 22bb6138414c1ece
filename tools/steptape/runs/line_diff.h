// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace steptape::tools {

/// Returns the lines in which two texts differ, as diff(1) marks them: "- " before those of the
/// first, "+ " before those of the second. In the order of the texts, and as few as possible.
///
/// Of texts with many lines, all between the first and the last difference are returned.
std::vector<std::string> lineDiff(const std::string& first, const std::string& second);

}  // namespace steptape::tools
