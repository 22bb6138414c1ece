// SPDX-License-Identifier: Apache-2.0
#include "profile/recorder/window_marks.h"

#include <algorithm>

#include "steptape/base/clock.h"

#include "base/thread_id.h"

namespace steptape::detail::profile {
namespace {

constexpr std::size_t kMarksAtFirst = 64;

}  // namespace

WindowMarks::WindowMarks() {
  added_.reserve(kMarksAtFirst);
  taken_.reserve(kMarksAtFirst);
}

void WindowMarks::add(Change change, std::int64_t step, const WindowEnd& end) {
  const std::uint64_t threadId = base::threadId();
  const bool closes = change == Change::kClose;
  {
    const base::MutexLock lock(mutex_);
    // Reads the clock under the lock, so that marks are in order of time.
    added_.push_back({change, readTicks(), step, threadId, end});
    isClosing_ |= closes;
  }
  if (closes) {
    wake();
  }
}

void WindowMarks::end() {
  {
    const base::MutexLock lock(mutex_);
    isEnding_ = true;
  }
  wake();
}

bool WindowMarks::wait(std::chrono::milliseconds pause) {
  const base::MutexLock lock(mutex_);
  if (!isEnding_ && !isClosing_) {
    wake_.waitUntil(mutex_, std::chrono::steady_clock::now() + pause);
  }
  return isEnding_;
}

std::uint64_t WindowMarks::take() {
  const base::MutexLock lock(mutex_);
  if (applied_ < taken_.size()) {
    return 0;  // the previous pass ran out of memory
  }
  taken_.clear();
  applied_ = 0;
  taken_.swap(added_);
  isClosing_ = false;
  return readTicks();
}

void WindowMarks::applyTaken(const std::function<void(const Mark&)>& apply) {
  for (; applied_ < taken_.size(); ++applied_) {
    apply(taken_[applied_]);
  }
}

std::size_t WindowMarks::unappliedCloses() {
  const auto isClose = [](const Mark& mark) { return mark.change == Change::kClose; };
  const base::MutexLock lock(mutex_);
  return static_cast<std::size_t>(
      std::count_if(taken_.begin() + static_cast<std::ptrdiff_t>(applied_), taken_.end(), isClose) +
      std::count_if(added_.begin(), added_.end(), isClose));
}

}  // namespace steptape::detail::profile
