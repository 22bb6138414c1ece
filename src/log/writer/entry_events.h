// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "events/framing/record_buffer.h"
#include "log/writer/box_records.h"
#include "log/writer/event_builder.h"
#include "log/writer/scalar_series.h"

namespace steptape::detail::log {

/// Makes of the entries of one stream, which its writer left in its rings, the events that it would
/// have made.
///
/// @threads Not thread-safe: one thread at a time.
class EntryEvents {
 public:
  /// @param times When ticks of the entries were.
  EntryEvents(const NamedStream& stream, const TickTimes& times)
      : builder_(stream.coalesceSeconds), times_(times) {}

  void add(const RingEntry& entry, const NamedSeries& named);

  /// Returns the records of all events, and forgets them.
  std::string take();

 private:
  double wallTimeOf(const RingEntry& entry) const;
  void finishEvent();

  EventBuilder builder_;
  const TickTimes times_;
  events::RecordBuffer records_;
  std::map<std::uint32_t, std::unique_ptr<ScalarSeries>> series_;  // by number
};

}  // namespace steptape::detail::log
