// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

namespace steptape::tools {

/// Returns the seconds of "500ms", "1s", "2min", "1h" or, without a unit, of "1.5"; nothing if
/// `text` is not a duration, or a negative one.
std::optional<double> secondsOf(const std::string& text);

/// Returns the seconds of a duration as tables show it, such as "0.4 s", "3:25", "1:02:03" or
/// "2 d 3:00:00", and of what secondsOf() reads, also several in a row: "1h30m". Nothing if `text`
/// is no duration.
std::optional<double> shownSecondsOf(const std::string& text);

}  // namespace steptape::tools
