// SPDX-License-Identifier: Apache-2.0
#include "profile/recorder/window_recorder.h"

#include <chrono>
#include <new>
#include <time.h>
#include <utility>

namespace steptape::detail::profile {
namespace {

constexpr std::chrono::milliseconds kRingLookEvery(10);
constexpr std::chrono::milliseconds kSleepAtMost(500);

double ownCpuNanos() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

}  // namespace

WindowRecorder::WindowRecorder(const Options& options, OnFinished onFinished, OnLost onLost)
    : collector_(options.recordsPerThread, options.zones),
      options_(options),
      onFinished_(std::move(onFinished)),
      onLost_(std::move(onLost)) {
  thread_ = std::thread([this] { run(); });
}

WindowRecorder::~WindowRecorder() {
  marks_.end();
  thread_.join();
}

void WindowRecorder::open(WindowStart start) {
  // Drains now: rings that are full of earlier records would lose the window's records.
  const base::MutexLock lock(windowMutex_);
  drain();
  drained_.clear();
  converter_.recalibrate();
  lastTicks_ = readTicks();
  window_.emplace(Window{lastTicks_, OpStatsBuilder(lastTicks_, options_.sampling),
                         TraceRecords(lastTicks_, options_.maxSpans), std::move(start)});
  isOpen_ = true;
  marks_.wake();
}

void WindowRecorder::close(const WindowEnd& end) {
  marks_.add(WindowMarks::Change::kClose, 0, end);
  isOpen_ = false;
}

std::optional<OpProfile> WindowRecorder::current() {
  look();
  const base::MutexLock lock(windowMutex_);
  if (!window_) {
    return std::nullopt;
  }
  OpProfile profile = window_->stats.build(lastTicks_, converter_);
  profile.steps = window_->steps;
  return profile;
}

void WindowRecorder::run() {
  bool isLast = false;
  while (!isLast) {
    isLast = marks_.wait(collector_.isRecording() ? kRingLookEvery : kSleepAtMost);
    bool isDone = tryLook();
    constexpr int kLastTries = 3;
    for (int i = 1; isLast && !isDone && i < kLastTries; ++i) {
      isDone = tryLook();
    }
    threadNanos_.store(ownCpuNanos(), std::memory_order_relaxed);
  }
  loseWindows();
}

/// The run has precedence over its profile. If there is no memory, the drained records are lost,
/// and the windows wait for the next pass.
bool WindowRecorder::tryLook() noexcept {
  try {
    look();
    return true;
  } catch (const std::bad_alloc&) {
    const base::MutexLock lock(windowMutex_);
    drained_.lose();
    return false;
  }
}

/// At the end, reports closed windows that no pass could finish.
void WindowRecorder::loseWindows() noexcept {
  std::size_t lost = 0;
  {
    const base::MutexLock lock(windowMutex_);
    lost = closed_.size() + marks_.unappliedCloses();
  }
  for (; lost > 0; --lost) {
    onLost_();
  }
}

void WindowRecorder::look() {
  const base::MutexLock deviceLock(deviceMutex_);
  {
    const base::MutexLock lock(windowMutex_);
    drain();
  }
  finishClosed();
  const base::MutexLock lock(windowMutex_);
  if (window_ && closed_.empty()) {  // else the older window must get its records first
    addDevices(lastDrainTicks_, /*waits=*/false, &*window_);
  }
}

void WindowRecorder::drain() {
  const std::uint64_t now = marks_.take();
  // Drains after taking the marks, so that all records before a mark are found. Records after `now`
  // may follow later marks, and wait for them.
  collector_.drain([&](const process::SpanBatch& batch)
                       STEPTAPE_REQUIRES(windowMutex_) { drained_.add(batch); });
  marks_.applyTaken([&](const WindowMarks::Mark& mark)
                        STEPTAPE_REQUIRES(windowMutex_) { apply(mark); });
  if (now == 0) {
    return;  // marks between these and now are still to be taken
  }
  addUntil(now);
  lastDrainTicks_ = now;
  drained_.recycle();
}

void WindowRecorder::apply(const WindowMarks::Mark& mark) {
  if (!window_) {
    return;
  }
  addUntil(mark.ticks);
  lastTicks_ = mark.ticks;
  switch (mark.change) {
    case WindowMarks::Change::kEndStep:
      window_->records.endStep(mark.step, mark.ticks, mark.threadId);
      ++window_->steps;
      break;
    case WindowMarks::Change::kPause:
      window_->stats.pause(mark.ticks);
      window_->isPaused = true;
      break;
    case WindowMarks::Change::kResume:
      window_->stats.resume(mark.ticks);
      window_->records.resume(mark.ticks);
      window_->isPaused = false;
      break;
    case WindowMarks::Change::kClose:
      closed_.emplace_back();
      closed_.back() = {std::move(window_), mark};
      window_.reset();
      break;
  }
}

void WindowRecorder::finishClosed() {
  while (true) {
    std::optional<ClosedWindow> closed;
    {
      const base::MutexLock lock(windowMutex_);
      if (closed_.empty()) {
        return;
      }
      closed.emplace(std::move(closed_.front()));
      closed_.pop_front();
    }
    try {
      finish(std::move(*closed));
    } catch (const std::bad_alloc&) {
      onLost_();
    }
  }
}

void WindowRecorder::finish(ClosedWindow closed) {
  Window& window = *closed.window;
  const WindowMarks::Mark& mark = closed.close;
  addDevices(mark.ticks, /*waits=*/true, &window);
  FinishedWindow finished{{},
                          std::move(window.records),
                          mark.ticks,
                          recalibrated(),
                          mark.end.step,
                          std::move(window.start)};
  finished.profile = window.stats.build(mark.ticks, finished.converter);
  finished.profile.steps = window.steps;
  finished.profile.stepsPassed = mark.end.stepsPassed;
  finished.profile.overhead = mark.end.overhead;
  onFinished_(std::move(finished));
}

TickConverter WindowRecorder::recalibrated() {
  const base::MutexLock lock(windowMutex_);
  converter_.recalibrate();
  return converter_;
}

void WindowRecorder::addUntil(std::uint64_t ticks) {
  drained_.takeUntil(ticks, [&](const process::SpanBatch& batch) STEPTAPE_REQUIRES(windowMutex_) {
    if (window_ && !window_->isPaused) {
      window_->stats.add(batch);
      window_->records.add(batch);
    }
  });
}

void WindowRecorder::addDevices(std::uint64_t until, bool waits, Window* window) {
  if (options_.source == nullptr) {
    return;
  }
  options_.source->takeDeviceSpans(window->startTicks, until, waits,
                                   [&](const process::SpanBatch& batch) {
                                     window->stats.add(batch);
                                     window->records.add(batch);
                                   });
}

}  // namespace steptape::detail::profile
