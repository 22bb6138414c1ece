// SPDX-License-Identifier: Apache-2.0
#include "profile/trace/perfetto/perfetto_tracks.h"

#include "base/utf8.h"
#include "events/messages/wire_format.h"
#include "profile/trace/perfetto/perfetto_format.h"
#include "profile/trace/perfetto/perfetto_sequence.h"

namespace steptape::detail {

namespace track = perfetto::track;

std::string trackDescriptor(std::uint64_t uuid, std::uint64_t parent, std::string_view name) {
  std::string bytes;
  appendVarintField(&bytes, track::kUuid, uuid);
  appendVarintField(&bytes, track::kParent, parent);
  appendBytesField(&bytes, track::kName, replaceInvalidUtf8(name));
  appendVarintField(&bytes, track::kMergeBehavior, track::kNeverMerge);
  return bytes;
}

std::string counterDescriptor(std::uint64_t uuid, std::uint64_t parent, std::string_view name,
                              std::uint64_t unit) {
  std::string counter;
  if (unit != 0) {
    appendVarintField(&counter, track::kUnit, unit);
  }
  std::string bytes = trackDescriptor(uuid, parent, name);
  appendBytesField(&bytes, track::kCounter, counter);
  return bytes;
}

void appendTrackPacket(std::string_view descriptor, PhraseText* text) {
  std::string fields;
  appendBytesField(&fields, perfetto::packet::kTrackDescriptor, descriptor);
  appendPerfettoPacket(fields, text);
}

}  // namespace steptape::detail
