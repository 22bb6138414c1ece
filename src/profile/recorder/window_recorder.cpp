// SPDX-License-Identifier: Apache-2.0
#include "profile/recorder/window_recorder.h"

#include <algorithm>
#include <chrono>
#include <new>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <utility>

#include "process/spans/recorder_registry.h"

namespace steptape::detail::profile {
namespace {

constexpr std::chrono::milliseconds kRingLookEvery(10);
constexpr std::chrono::milliseconds kSleepAtMost(500);
constexpr std::size_t kMarksAtFirst = 64;
constexpr std::size_t kMaxSpares = 8;

double ownCpuNanos() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

}  // namespace

WindowRecorder::WindowRecorder(const Options& options, OnFinished onFinished, OnLost onLost)
    : collector_(options.recordsPerThread, options.zones),
      maxSpans_(options.maxSpans),
      sampling_(options.sampling),
      source_(options.source),
      onFinished_(std::move(onFinished)),
      onLost_(std::move(onLost)) {
  marks_.reserve(kMarksAtFirst);
  takenMarks_.reserve(kMarksAtFirst);
  thread_ = std::thread([this] { run(); });
}

WindowRecorder::~WindowRecorder() {
  {
    const base::MutexLock lock(markMutex_);
    isEnding_ = true;
  }
  wake_.notifyOne();
  thread_.join();
}

void WindowRecorder::open(WindowStart start) {
  // Drains now: rings that are full of earlier records would lose the window's records.
  const base::MutexLock lock(windowMutex_);
  drain();
  drained_.clear();
  converter_.recalibrate();
  lastTicks_ = readTicks();
  window_.emplace(Window{lastTicks_, OpStatsBuilder(lastTicks_, sampling_),
                         TraceRecords(lastTicks_, maxSpans_), std::move(start)});
  isOpen_ = true;
  wake_.notifyOne();
}

void WindowRecorder::mark(Change change, std::int64_t step, const WindowEnd& end) {
  const auto threadId = static_cast<std::uint64_t>(::syscall(SYS_gettid));
  const base::MutexLock lock(markMutex_);
  // Reads the clock under the lock, so that marks are in order of time.
  marks_.push_back({change, readTicks(), step, threadId, end});
  isClosing_ |= change == Change::kClose;
}

void WindowRecorder::endStep(std::int64_t number) {
  mark(Change::kEndStep, number);
}
void WindowRecorder::pause() {
  mark(Change::kPause);
}
void WindowRecorder::resume() {
  mark(Change::kResume);
}

void WindowRecorder::close(const WindowEnd& end) {
  mark(Change::kClose, 0, end);
  isOpen_ = false;
  wake_.notifyOne();
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
    {
      const base::MutexLock lock(markMutex_);
      if (!isEnding_ && !isClosing_) {
        const auto pause = collector_.isRecording() ? kRingLookEvery : kSleepAtMost;
        wake_.waitUntil(markMutex_, std::chrono::steady_clock::now() + pause);
      }
      isLast = isEnding_;
    }
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
    loseDrained();
    return false;
  }
}

void WindowRecorder::loseDrained() {
  for (const Drained& drained : drained_) {
    process::RecorderRegistry::instance().countUnrecorded(drained.records.size() - drained.next +
                                                          drained.dropped);
  }
  drained_.clear();
}

/// At the end, reports closed windows that no pass could finish.
void WindowRecorder::loseWindows() noexcept {
  const auto isClose = [](const Mark& mark) { return mark.change == Change::kClose; };
  std::ptrdiff_t lost = 0;
  {
    const base::MutexLock lock(windowMutex_);
    const base::MutexLock markLock(markMutex_);
    lost = static_cast<std::ptrdiff_t>(closed_.size());
    lost += std::count_if(takenMarks_.begin() + static_cast<std::ptrdiff_t>(appliedMarks_),
                          takenMarks_.end(), isClose);
    lost += std::count_if(marks_.begin(), marks_.end(), isClose);
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
  std::uint64_t now = 0;
  {
    const base::MutexLock lock(markMutex_);
    if (appliedMarks_ == takenMarks_.size()) {  // else the previous pass ran out of memory
      takenMarks_.clear();
      appliedMarks_ = 0;
      takenMarks_.swap(marks_);
      isClosing_ = false;
      now = readTicks();
    }
  }
  // Drains after taking the marks, so that all records before a mark are found. Records after `now`
  // may follow later marks, and wait for them.
  collector_.drain([&](const process::SpanBatch& batch) STEPTAPE_REQUIRES(windowMutex_) {
    std::vector<SpanRecord> records;
    if (!spareRecords_.empty()) {
      records = std::move(spareRecords_.back());
      spareRecords_.pop_back();
    }
    records.assign(batch.records.begin(), batch.records.end());
    drained_.push_back({batch.threadId, batch.threadName, std::move(records), 0, batch.dropped});
  });
  for (; appliedMarks_ < takenMarks_.size(); ++appliedMarks_) {
    apply(takenMarks_[appliedMarks_]);
  }
  if (now == 0) {
    return;  // marks between these and now are still to be taken
  }
  addUntil(now);
  lastDrainTicks_ = now;
  const auto isDone = [](const Drained& drained) {
    return drained.next == drained.records.size() && drained.dropped == 0;
  };
  for (Drained& drained : drained_) {
    if (isDone(drained) && spareRecords_.size() < kMaxSpares) {
      spareRecords_.push_back(std::move(drained.records));
      drained.records.clear();
      drained.next = 0;
    }
  }
  drained_.erase(std::remove_if(drained_.begin(), drained_.end(), isDone), drained_.end());
}

void WindowRecorder::apply(const Mark& mark) {
  if (!window_) {
    return;
  }
  addUntil(mark.ticks);
  lastTicks_ = mark.ticks;
  switch (mark.change) {
    case Change::kEndStep:
      window_->records.endStep(mark.step, mark.ticks, mark.threadId);
      ++window_->steps;
      break;
    case Change::kPause:
      window_->stats.pause(mark.ticks);
      window_->isPaused = true;
      break;
    case Change::kResume:
      window_->stats.resume(mark.ticks);
      window_->records.resume(mark.ticks);
      window_->isPaused = false;
      break;
    case Change::kClose:
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
  const Mark& mark = closed.mark;
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
  for (Drained& drained : drained_) {
    const std::size_t first = drained.next;
    while (drained.next < drained.records.size() &&
           drained.records[drained.next].ticks() <= ticks) {
      ++drained.next;
    }
    const process::SpanBatch batch{
        drained.threadId, drained.threadName,
        ArrayView<const SpanRecord>(drained.records.data() + first, drained.next - first),
        drained.dropped};
    if (batch.records.empty() && batch.dropped == 0) {
      continue;
    }
    drained.dropped = 0;
    if (window_ && !window_->isPaused) {
      window_->stats.add(batch);
      window_->records.add(batch);
    }
  }
}

void WindowRecorder::addDevices(std::uint64_t until, bool waits, Window* window) {
  if (source_ == nullptr) {
    return;
  }
  source_->takeDeviceSpans(window->startTicks, until, waits, [&](const process::SpanBatch& batch) {
    window->stats.add(batch);
    window->records.add(batch);
  });
}

}  // namespace steptape::detail::profile
