// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace steptape::tools {

// Checks of option values. Errors have the form "--by: got x; expected name or shape".

/// Accepts one of `names`, which --help and completion show too.
CLI::Validator oneOf(const std::vector<std::string>& names);

/// Accepts a number from `least` to `greatest`, both included.
CLI::Validator inRange(double least, double greatest);

/// Accepts a number that is not less than `least`.
CLI::Validator atLeast(double least);

}  // namespace steptape::tools
