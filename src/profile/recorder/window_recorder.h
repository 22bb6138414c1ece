// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <thread>

#include "steptape/base/clock.h"
#include "steptape/profile/trace_summary.h"

#include "base/mutex.h"
#include "process/spans/span_collector.h"
#include "profile/recorder/drained_records.h"
#include "profile/recorder/op_stats_builder.h"
#include "profile/recorder/span_source.h"
#include "profile/recorder/trace_records.h"
#include "profile/recorder/window_marks.h"

namespace steptape::detail::profile {

/// Data of a window at its start, equal on the ranks of a job.
struct WindowStart {
  std::string session;                ///< Its name; see profileSessionName().
  std::int64_t namedNanos = 0;        ///< Time of the name, by the root's clock.
  std::int64_t clockOffsetNanos = 0;  ///< See TraceRecords::build().
};

/// The records between open() and close().
struct FinishedWindow {
  OpProfile profile;
  TraceRecords records;
  std::uint64_t endTicks;
  TickConverter converter;
  std::int64_t step;  ///< See WindowEnd.
  WindowStart start;  ///< As passed to open().
};

/// Drains the rings of all threads into windows of time, on a separate thread:
///
///     open()   endStep()   endStep()  close()            open()
///     |---------|-----------|----------|                 |-----
///     records of the window, by their time    discarded
///
/// It drains the rings every 10 ms, so that a step may record more spans than a ring holds.
///
/// @threads open(), endStep(), close(), pause() and resume() on one thread; current() and latest()
///          on any.
class WindowRecorder {
 public:
  struct Options {
    std::size_t recordsPerThread;
    bool zones;
    std::size_t maxSpans;  ///< Limit for a window's trace; its statistics include all.
    int sampling;          ///< See OpStatsBuilder.
    SpanSource* source;    ///< Source of device spans; null: none. Must outlive the recorder.
  };
  /// Called for each closed window, in order, on the recorder's thread or inside a call.
  using OnFinished = std::function<void(FinishedWindow)>;
  /// Called instead for a window that is lost for lack of memory. REQUIRES: does not throw.
  using OnLost = std::function<void()>;

  /// @throws as SpanCollector.
  WindowRecorder(const Options& options, OnFinished onFinished, OnLost onLost);
  /// Returns once all closed windows have been reported; the records of an open one are discarded.
  ~WindowRecorder();
  WindowRecorder(const WindowRecorder&) = delete;
  WindowRecorder& operator=(const WindowRecorder&) = delete;

  void startRecording() noexcept { collector_.startRecording(); }
  void stopRecording() noexcept { collector_.stopRecording(); }
  bool isRecording() const noexcept { return collector_.isRecording(); }

  /// Opens a window now; discards earlier records.
  void open(WindowStart start);
  /// Ends a step of the open window.
  ///
  /// @param number Counted from 0.
  /// @cost  An uncontended lock.
  void endStep(std::int64_t number) { marks_.add(WindowMarks::Change::kEndStep, number); }
  /// Ignores later records, until resume().
  void pause() { marks_.add(WindowMarks::Change::kPause); }
  void resume() { marks_.add(WindowMarks::Change::kResume); }
  void close(const WindowEnd& end);
  bool isOpen() const noexcept { return isOpen_; }

  /// Returns the number of records that all threads have made.
  std::uint64_t recordCount() const { return collector_.recordCount(); }
  /// Returns the CPU time of the recorder's thread.
  double threadNanos() const noexcept { return threadNanos_.load(std::memory_order_relaxed); }

  /// Returns once all earlier records are in their window, and closed windows have been reported.
  ///
  /// @return the state of the open window; empty if none is open.
  std::optional<OpProfile> current();

 private:
  struct Window {
    std::uint64_t startTicks;
    OpStatsBuilder stats;
    TraceRecords records;
    WindowStart start;
    std::int64_t steps = 0;
    bool isPaused = false;
  };
  /// A closed window whose device spans may be incomplete.
  struct ClosedWindow {
    std::optional<Window> window;  // always set
    WindowMarks::Mark close{};
  };

  void run();
  void look();
  bool tryLook() noexcept;
  void loseWindows() noexcept;
  void drain() STEPTAPE_REQUIRES(windowMutex_);
  void apply(const WindowMarks::Mark& mark) STEPTAPE_REQUIRES(windowMutex_);
  void addUntil(std::uint64_t ticks) STEPTAPE_REQUIRES(windowMutex_);
  void finishClosed() STEPTAPE_REQUIRES(deviceMutex_);
  void finish(ClosedWindow closed) STEPTAPE_REQUIRES(deviceMutex_);
  TickConverter recalibrated();
  void addDevices(std::uint64_t until, bool waits, Window* window) STEPTAPE_REQUIRES(deviceMutex_);

  process::SpanCollector collector_;
  const Options options_;
  const OnFinished onFinished_;
  const OnLost onLost_;
  bool isOpen_ = false;
  std::atomic<double> threadNanos_{0.0};

  WindowMarks marks_;

  base::Mutex deviceMutex_;  ///< Held while waiting for devices; locked before windowMutex_.

  base::Mutex windowMutex_;
  DrainedRecords drained_ STEPTAPE_GUARDED_BY(windowMutex_);
  std::optional<Window> window_ STEPTAPE_GUARDED_BY(windowMutex_);
  std::deque<ClosedWindow> closed_ STEPTAPE_GUARDED_BY(windowMutex_);
  TickConverter converter_ STEPTAPE_GUARDED_BY(windowMutex_);
  std::uint64_t lastTicks_ STEPTAPE_GUARDED_BY(windowMutex_) = 0;  // of the last mark
  std::uint64_t lastDrainTicks_ STEPTAPE_GUARDED_BY(windowMutex_) = 0;

  std::thread thread_;  // uses all members above
};

}  // namespace steptape::detail::profile
