// SPDX-License-Identifier: Apache-2.0
#include "profile/trace/perfetto/perfetto_tracks.h"

#include "base/utf8.h"
#include "events/messages/wire_format.h"
#include "profile/trace/perfetto/perfetto_format.h"
#include "profile/trace/perfetto/perfetto_sequence.h"

namespace steptape::detail::profile {

namespace track = perfetto::track;

std::string trackDescriptor(std::uint64_t uuid, std::uint64_t parent, std::string_view name) {
  std::string bytes;
  events::appendVarintField(&bytes, track::kUuid, uuid);
  events::appendVarintField(&bytes, track::kParent, parent);
  events::appendBytesField(&bytes, track::kName, base::replaceInvalidUtf8(name));
  events::appendVarintField(&bytes, track::kMergeBehavior, track::kNeverMerge);
  return bytes;
}

std::string counterDescriptor(std::uint64_t uuid, std::uint64_t parent, std::string_view name,
                              std::uint64_t unit) {
  std::string counter;
  if (unit != 0) {
    events::appendVarintField(&counter, track::kUnit, unit);
  }
  std::string bytes = trackDescriptor(uuid, parent, name);
  events::appendBytesField(&bytes, track::kCounter, counter);
  return bytes;
}

void appendTrackPacket(std::string_view descriptor, TraceText* text) {
  std::string fields;
  events::appendBytesField(&fields, perfetto::packet::kTrackDescriptor, descriptor);
  appendPerfettoPacket(fields, text);
}

}  // namespace steptape::detail::profile
