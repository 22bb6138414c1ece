// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

namespace steptape::tools {

/// Returns the seconds of "500ms", "1s", "2min", "1h" or, without a unit, of "1.5"; nothing if
/// `text` is not a duration, or a negative one.
std::optional<double> secondsOf(const std::string& text);

}  // namespace steptape::tools
