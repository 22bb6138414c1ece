// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "steptape/base/export.h"

namespace steptape::detail::base {

/// Writes the fewest digits that parse back to the finite `value`, with an exponent from 2^63 on.
/// At most 24 characters.
/// @return the end of the text.
STEPTAPE_EXPORT char* writeShortestDouble(char* out, double value);

/// Appends the fewest digits that parse back to the finite `value`.
STEPTAPE_EXPORT void appendShortestDouble(std::string* out, double value);
/// Like appendShortestDouble(), for readers that parse a float: fewer digits are sufficient.
STEPTAPE_EXPORT void appendShortestFloat(std::string* out, float value);

/// Like appendShortestDouble(), for standard libraries whose std::to_chars supports only integers.
/// The digits are the same except for rare values that take one more; the form of the exponent
/// differs.
STEPTAPE_EXPORT void appendShortestDoublePortable(std::string* out, double value);
STEPTAPE_EXPORT void appendShortestFloatPortable(std::string* out, float value);

}  // namespace steptape::detail::base
