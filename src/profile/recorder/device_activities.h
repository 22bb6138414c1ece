// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "steptape/base/export.h"

#include "base/mutex.h"
#include "process/spans/span_collector.h"
#include "profile/recorder/device_activity.h"

namespace steptape::detail::profile {

/// A line through two moments that are known on both Unix time and readTicks().
class STEPTAPE_EXPORT ActivityClock {
 public:
  struct Moment {
    std::uint64_t ticks;
    std::int64_t nanos;  ///< Unix time.
  };
  /// Reads both clocks, accurate to some tens of nanoseconds.
  static Moment now();

  /// @param end If it is not later than `begin`, the process's frequency of ticks is used.
  ActivityClock(Moment begin, Moment end);

  std::uint64_t ticksAt(std::int64_t nanos) const;

  /// Corrects the line if the clocks differ: a call that lasted from `startNanos` to `endNanos` lay
  /// between `startTicks` and `endTicks`.
  void align(std::int64_t startNanos, std::int64_t endNanos, std::uint64_t startTicks,
             std::uint64_t endTicks);

 private:
  Moment begin_;
  double ticksPerNano_;
  double shift_ = 0.0;  ///< In ticks.
};

/// Kernels, copies and calls of the runtime library in windows of time, from an ActivityRecorder.
///
///     start()           pause()  start()                take(): synchronizes, stops, starts again
///     |--- recorded ---|        |------- recorded ------|
///
/// Work is in a window if the call that launched it is. Work that was launched before the window
/// ends is reported whole, also if it ends later.
///
/// @threads Thread-safe, but take() on one thread at a time.
class STEPTAPE_EXPORT DeviceActivities {
 public:
  explicit DeviceActivities(std::unique_ptr<ActivityRecorder> recorder);
  /// Stops recording.
  ~DeviceActivities();
  DeviceActivities(const DeviceActivities&) = delete;
  DeviceActivities& operator=(const DeviceActivities&) = delete;

  /// Starts to record, or continues after pause(). Never waits for devices that take() waits for,
  /// but the first call waits for them. The first call also tests whether anything is
  /// recorded, because tools such as Nsight Systems leave nothing for others.
  ///
  /// @return whether recording is on; see problems().
  bool start();
  /// Omits what is launched until start().
  void pause() noexcept;

  /// Passes on work and calls that began between `since` and `until`, one batch per stream and
  /// thread. Discards earlier ones.
  ///
  /// @cost Waits for the devices. What is launched while the recorder stops and starts is lost.
  void take(std::uint64_t since, std::uint64_t until,
            const std::function<void(const process::SpanBatch&)>& sink);

  /// Returns why recording is off though it was started, and why something is missing in what was
  /// taken; empty texts if there is no reason.
  std::vector<std::string> problems() const;

 private:
  struct Interval {
    std::uint64_t from;
    std::uint64_t until;
  };
  struct Entry;

  void restart() STEPTAPE_REQUIRES(mutex_);
  bool recordsSomething() STEPTAPE_REQUIRES(mutex_);
  void turnOver();
  void keep(const std::vector<DeviceActivity>& activities, const ActivityClock& clock)
      STEPTAPE_REQUIRES(mutex_);
  bool isPaused(std::uint64_t ticks) const STEPTAPE_REQUIRES(mutex_);
  std::uint32_t detailsOf(const DeviceActivity& activity) STEPTAPE_REQUIRES(mutex_);

  const std::unique_ptr<ActivityRecorder> recorder_;
  mutable base::Mutex mutex_;
  bool isTested_ STEPTAPE_GUARDED_BY(mutex_) = false;
  bool isRunning_ STEPTAPE_GUARDED_BY(mutex_) = false;         ///< Or is being stopped by take().
  std::uint64_t pausedSince_ STEPTAPE_GUARDED_BY(mutex_) = 0;  ///< 0: not paused.
  std::vector<Interval> pauses_ STEPTAPE_GUARDED_BY(mutex_);
  ActivityClock::Moment begin_ STEPTAPE_GUARDED_BY(mutex_){};
  std::vector<Entry> entries_ STEPTAPE_GUARDED_BY(mutex_);  ///< Recorded, not taken yet.
  std::unordered_map<std::string, std::uint32_t> details_ STEPTAPE_GUARDED_BY(mutex_);
  std::string problem_ STEPTAPE_GUARDED_BY(mutex_);  ///< Of the last start.
  std::string loss_ STEPTAPE_GUARDED_BY(mutex_);     ///< The last one.
};

}  // namespace steptape::detail::profile
