// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "steptape/base/clock.h"

#include "log/writer/box_records.h"
#include "log/writer/producer.h"

namespace steptape::detail::log {

/// Returns the wall time of `ticks` and the rate of the counter, from which other times follow.
TickTimes timesAt(std::uint64_t ticks, const TickConverter& converter);

/// Takes the entries out of the rings of all threads, in the order of their times.
///
/// @threads Not thread-safe: only for the backend thread.
class RingMerge {
 public:
  using Producers = std::vector<std::shared_ptr<OwnedProducer>>;

  /// Begins to drain the rings of `producers`. What was stamped since the last begin() stays for
  /// the next one: a thread that was interrupted between its stamp and its publication then still
  /// gets its place among the others'.
  ///
  /// @param everything Whether nothing may stay.
  /// @throws std::bad_alloc
  void begin(const Producers& producers, bool everything);
  /// Returns whether only one ring had entries. takeNext() then takes them in several pieces.
  bool isAlone() const { return waiting_.size() == 1; }
  /// Moves the next piece of the rings to entries().
  /// @return whether it was the last one.
  /// @throws std::bad_alloc, and then the rings keep what entries() lacks.
  bool takeNext();
  /// Returns what was taken. The caller clears it; what it leaves because memory is short comes
  /// before the next piece.
  std::vector<RingEntry>& entries() { return entries_; }

  /// Adds up to where entries were taken from each ring that still keeps them.
  void addCursors(LogRecordBuilder* record) const;
  /// Adds up to where entries were taken from the only ring that still keeps some.
  /// @return false if there is another one, or the black box does not hold it.
  bool addAnnounced(LogRecordBuilder* record) const;
  /// Lets the rings overwrite the entries that were taken.
  void secure();
  /// Ends the drain.
  /// @return the producers whose threads have ended, and whose rings are empty.
  std::vector<const OwnedProducer*> finish();

  double wallSeconds(std::uint64_t ticks) const { return time_.wallSeconds(ticks); }
  /// Returns the times of the last begin().
  TickTimes times() const { return timesAt(begun_, time_); }
  /// Returns whether the last begin() was longer ago than the shortest pause.
  bool isDue() const { return readTicks() - begun_ > time_.ticksIn(kPause); }
  /// Returns how long to wait until the next begin(): the longer, the longer the rings are empty.
  /// @param isRetry Whether there is other work, so that it should not be longer.
  std::chrono::milliseconds nextPause(bool isRetry);
  /// Follows the system clock, once a second.
  void recalibrateIfDue();

 private:
  // A ring holds 10,900 scalars, so a thread may log two million per second in a pause.
  static constexpr auto kPause = std::chrono::milliseconds(4);

  Producers draining_;
  std::vector<ScalarRing*> waiting_;  // those of draining_ that had entries
  std::vector<const OwnedProducer*> gone_;
  std::vector<RingEntry> entries_;
  std::uint64_t lastTicks_ = 0;  // of the entries to take
  std::uint64_t begun_ = 0;
  std::uint64_t lastCalibration_ = 0;
  TickConverter time_;
  std::chrono::milliseconds pause_ = kPause;
  bool isIdle_ = true;  // the last begin() found no entries
};

}  // namespace steptape::detail::log
