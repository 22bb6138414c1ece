// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "profile/trace/trace_text.h"

namespace steptape::detail::profile {

/// A TrackDescriptor. Viewers keep tracks of one parent apart even if they have the same name.
std::string trackDescriptor(std::uint64_t uuid, std::uint64_t parent, std::string_view name);

/// @param unit 0: none.
std::string counterDescriptor(std::uint64_t uuid, std::uint64_t parent, std::string_view name,
                              std::uint64_t unit);

/// Writes a packet with a descriptor alone.
void appendTrackPacket(std::string_view descriptor, TraceText* text);

}  // namespace steptape::detail::profile
