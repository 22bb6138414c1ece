// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "steptape/base/export.h"

namespace steptape::detail {

/// Writes the fewest digits that give the finite `value` back; 24 characters at most.
/// @return the end of the text.
STEPTAPE_EXPORT char* writeShortestDouble(char* out, double value);

/// Appends the fewest digits that give the finite `value` back.
STEPTAPE_EXPORT void appendShortestDouble(std::string* out, double value);
/// As above, for readers that know it was a float: fewer digits do.
STEPTAPE_EXPORT void appendShortestFloat(std::string* out, float value);

/// As above, for standard libraries whose std::to_chars takes integers only; digits are the same
/// but for rare values where these take one more, and the form of the exponent.
STEPTAPE_EXPORT void appendShortestDoublePortable(std::string* out, double value);
STEPTAPE_EXPORT void appendShortestFloatPortable(std::string* out, float value);

}  // namespace steptape::detail
