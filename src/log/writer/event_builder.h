// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "events/framing/open_record.h"
#include "events/framing/record_buffer.h"
#include "events/messages/scalar_event_encoder.h"
#include "log/writer/scalar_series.h"

namespace steptape::detail::log {

/// Joins the scalars of a step into one event: those that come within the coalescing window and
/// have different tags. A stream and the recovery of its entries make the same events by it.
///
/// @threads Not thread-safe: one thread at a time.
class EventBuilder {
 public:
  /// @param coalesceSeconds WriterOptions::coalesceWindow
  explicit EventBuilder(double coalesceSeconds) : coalesceSeconds_(coalesceSeconds) {}

  /// Returns the time for the file, which never decreases, even if the clock was set.
  double monotonic(double wallTime) {
    lastWallTime_ = std::max(lastWallTime_, wallTime);
    return lastWallTime_;
  }

  /// Returns whether the next scalar of a series joins the current event. If it does not, finish()
  /// and begin() come before add().
  ///
  /// @param exact The caller gave the wall time: only scalars of an equal one share the event.
  bool fits(const ScalarSeries& series, std::int64_t step, double wallTime, bool exact) const {
    // False if there is no current event: then end_ precedes every time.
    return step == step_ && wallTime <= end_ && wallTime >= begin_ && exact == isExact_ &&
           series.lastEvent != serial_;
  }
  void begin(std::int64_t step, double wallTime, bool exact) {
    step_ = step;
    begin_ = wallTime;
    end_ = wallTime + (exact ? 0.0 : coalesceSeconds_);
    isExact_ = exact;
    encoder_.begin(wallTime, step);
  }
  /// @param isFirstInFile Whether the tag's metadata is part of the value.
  void add(ScalarSeries* series, float value, bool isFirstInFile) {
    series->lastEvent = serial_;
    encoder_.add(series->bytes, value, isFirstInFile);
  }

  /// Returns the number of scalars in the current event.
  std::size_t size() const { return encoder_.size(); }
  /// Returns the number of the current event: the events finished before, plus 1.
  std::uint64_t serial() const { return serial_; }
  /// Returns whether the current event takes no more scalars that come at `now`.
  bool isAged(double now) const { return now - begin_ > coalesceSeconds_; }

  /// Appends the record of the current event, which goes on. REQUIRES: size() > 0
  void appendTo(events::RecordBuffer* records) const {
    events::OpenRecord record(records);
    encoder_.appendTo(record.payload());
    record.end();
  }
  /// Appends the record of the current event, and ends it. REQUIRES: size() > 0
  void finish(events::RecordBuffer* records) {
    appendTo(records);
    encoder_.clear();
    ++serial_;
    end_ = begin_ - 1;
  }

 private:
  const double coalesceSeconds_;
  events::ScalarEventEncoder encoder_;
  std::uint64_t serial_ = 1;
  std::int64_t step_ = 0;
  double begin_ = 0;
  double end_ = -1;  // the last wall time that belongs to the event
  bool isExact_ = false;
  double lastWallTime_ = 0;
};

}  // namespace steptape::detail::log
