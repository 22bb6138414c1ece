// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace steptape::tools {

// Patterns of paths that the shell has not replaced, because they are quoted or there is no shell:
// "runs/seed_*". They mean what they mean to sh(1).

/// The paths that match, in the order of their names.
std::vector<std::string> pathsMatching(const std::string& pattern);

/// `paths` with each pattern replaced by the paths that match. A path that is there is no pattern,
/// whatever characters it has.
std::vector<std::string> replacePatterns(const std::vector<std::string>& paths);

}  // namespace steptape::tools
