// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "steptape/events/event.h"

namespace steptape::tools {

/// Describes `value`, which is not a scalar, in a few words: "28x28 PNG", "-1.2 to 3.4, 1000
/// numbers, 30 buckets", "44100 Hz stereo, 1.5 s".
///
/// @param metadata TagSeries::metadata.
/// @return UTF-8 if the text in the file is UTF-8. "not readable: ..." if the value does not fit
///         its plugin.
std::string describeValue(const event::Value& value, const event::SummaryMetadata& metadata);

}  // namespace steptape::tools
