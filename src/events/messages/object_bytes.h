// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace steptape::detail::events {

/// Estimates the memory of the objects that decoding an event creates, in addition to the payload's
/// bytes: one megabyte of empty messages becomes half a million messages of hundreds of bytes each.
///
/// @param payload Any bytes. If they are not an event, the result is a lower bound.
/// @cost  One pass over the field keys; skips data.
std::uint64_t objectBytes(std::string_view payload);

}  // namespace steptape::detail::events
