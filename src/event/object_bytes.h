// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace steptape::detail {

/// Roughly what the objects take that decoding an event makes, beside the bytes of its payload: a
/// megabyte of empty messages becomes half a million of them, each of hundreds of bytes.
///
/// @param payload Any bytes; of those that are no event a lower bound.
/// @cost  One pass over the keys of fields; data is passed over.
std::uint64_t objectBytes(std::string_view payload);

}  // namespace steptape::detail
