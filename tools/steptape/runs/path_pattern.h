// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace steptape::tools {

/// Replaces each pattern among `paths`, such as "runs/seed_*", by the matching paths, ordered by
/// name, as sh(1) does without quotes. A path that exists is not a pattern.
std::vector<std::string> replacePatterns(const std::vector<std::string>& paths);

}  // namespace steptape::tools
