// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace steptape::tools {

/// Replaces each pattern among `paths`, such as "runs/seed_*", by the paths that match, in the order
/// of their names: what sh(1) does where a pattern is not quoted. A path that is there is no pattern,
/// whatever characters it has.
std::vector<std::string> replacePatterns(const std::vector<std::string>& paths);

}  // namespace steptape::tools
