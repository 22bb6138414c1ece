// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace steptape::tools {

/// Replaces each pattern among `paths`, such as "runs/seed_*", by the paths that match, ordered by
/// name, as sh(1) replaces patterns that are not quoted. A path that is there is no pattern.
std::vector<std::string> replacePatterns(const std::vector<std::string>& paths);

}  // namespace steptape::tools
