// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/mutex.h"

namespace steptape::detail::profile {

/// The profiler's data about a window at its end.
struct WindowEnd {
  std::int64_t step = 0;         ///< Number of steps that the profiler had seen.
  std::int64_t stepsPassed = 0;  ///< In the window, recorded or not.
  double overhead = 0.0;         ///< See OpProfile::overhead.
};

/// What the training thread tells the recorder's thread about a window, with the times.
class WindowMarks {
 public:
  enum class Change : std::uint8_t { kEndStep, kPause, kResume, kClose };
  struct Mark {
    Change change;
    std::uint64_t ticks;
    std::int64_t step;
    std::uint64_t threadId;
    WindowEnd end;
  };

  WindowMarks();

  void add(Change change, std::int64_t step = 0, const WindowEnd& end = {});
  void wake() { wake_.notifyOne(); }
  void end();

  // For the recorder, one thread at a time.

  /// Waits until a window closes, wake(), end(), or for `pause`.
  /// @return whether end() was called.
  bool wait(std::chrono::milliseconds pause);
  /// Takes the marks that were added, if all of before are applied.
  /// @return the time up to which there are no others; 0 if it has not taken them.
  std::uint64_t take();
  /// Passes each taken mark to `apply` once. One that throws is passed again by the next call.
  void applyTaken(const std::function<void(const Mark&)>& apply);
  /// Returns how many windows were closed by marks that are not applied.
  std::size_t unappliedCloses();

 private:
  base::Mutex mutex_;
  base::CondVar wake_;
  bool isEnding_ STEPTAPE_GUARDED_BY(mutex_) = false;
  bool isClosing_ STEPTAPE_GUARDED_BY(mutex_) = false;
  std::vector<Mark> added_ STEPTAPE_GUARDED_BY(mutex_);
  // Reused: if the training thread allocated memory at every step and the recorder's thread freed
  // it, the allocator would return pages to the operating system, and the training would wait for
  // new pages.
  std::vector<Mark> taken_;
  std::size_t applied_ = 0;  // of taken_
};

}  // namespace steptape::detail::profile
