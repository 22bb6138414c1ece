// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "steptape/trace/trace.h"

#include "trace/perfetto_format.h"

namespace steptape::detail {

// The arguments of events, as fields of TrackEvent. They have the names and values that they have
// in a Chrome trace.

void appendIntegerArgument(std::string* event, perfetto::ArgumentName name, std::int64_t value);
void appendIntegerArgument(std::string* event, std::string_view name, std::int64_t value);
void appendTextArgument(std::string* event, perfetto::ArgumentName name, std::string_view text);
void appendTextArgument(std::string* event, std::string_view name, std::string_view text);

/// Appends an integer argument up to the integer, a varint of `valueBytes`.
void beginIntegerArgument(std::string* event, perfetto::ArgumentName name, std::size_t valueBytes);

/// What the name says of all its spans, beyond text and category.
void appendArgumentsOfName(std::string* event, const TraceName& name);

/// The texts are those of appendTextsOfDetails().
/// @param number Index of the details.
void appendDetails(std::string* event, const SpanDetails& details, std::uint32_t number);

/// The texts of details, as fields of InternedData.
void appendTextsOfDetails(std::string* interned, const SpanDetails& details, std::uint32_t number);

}  // namespace steptape::detail
