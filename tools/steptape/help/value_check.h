// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace steptape::tools {

// What the value of an option may be. Errors have the form "--by: got x; expected name or shape".

/// One of `names`, which --help and completion show too.
CLI::Validator oneOf(const std::vector<std::string>& names);

/// A number from `least` to `greatest`, both included.
CLI::Validator inRange(double least, double greatest);

/// A number that is not less than `least`.
CLI::Validator atLeast(double least);

}  // namespace steptape::tools
