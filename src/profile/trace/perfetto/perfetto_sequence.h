// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "profile/trace/perfetto/perfetto_names.h"
#include "profile/trace/trace_text.h"

namespace steptape::detail::profile {

/// What the processes of one file have in common.
struct PerfettoFileState {
  std::int64_t baseNanos = 0;  ///< Unix time at or before everything in the file.
  std::set<std::int64_t> processIds;
  std::int64_t lastProcess = 0;  ///< As viewers sort them.
  std::uint64_t lastTrack = 0;
  std::uint64_t lastSequence = 0;
  std::uint64_t lastFlow = 0;
};

/// Writes a packet. `fields` are those of TracePacket.
void appendPerfettoPacket(std::string_view fields, TraceText* text);

/// Packets whose times are relative to each other and which share interned names.
///
/// @threads Not thread-safe: one thread at a time.
class PerfettoSequence {
 public:
  /// Writes the sequence's first packets.
  ///
  /// @param track      The track of events that name none.
  /// @param descriptor What to say of the track, a TrackDescriptor; may be empty.
  PerfettoSequence(std::uint64_t track, std::string_view descriptor, PerfettoFileState* file,
                   TraceText* text);

  /// Writes a TrackEvent.
  /// @param unixNanos  Not before that of the previous event, or it gets the time of that one.
  /// @param moreFields Follow those of `event`.
  void appendEvent(std::string_view event, std::int64_t unixNanos,
                   std::string_view moreFields = "");

  /// The names that events of the sequence refer to. Call writeNewNames() after a use and before
  /// the event.
  PerfettoNames* names() { return &names_; }
  void writeNewNames() {
    if (names_.hasNew()) {
      writeNames();
    }
  }

  TraceText* text() const { return text_; }

 private:
  void writeNames();

  TraceText* const text_;
  std::string head_;   // the fields with which each packet begins
  std::int64_t last_;  // time of the last event
  PerfettoNames names_;
};

}  // namespace steptape::detail::profile
