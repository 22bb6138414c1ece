// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <functional>
#include <optional>

#include "base/loop_thread.h"
#include "base/mutex.h"

namespace steptape::detail::profile {

/// Executes tasks one after the other on a separate thread, which starts with the first task.
///
/// @threads Thread-safe, except construction and destruction.
class TaskThread {
 public:
  TaskThread() = default;
  TaskThread(const TaskThread&) = delete;
  TaskThread& operator=(const TaskThread&) = delete;
  /// Returns once all tasks are done.
  ~TaskThread() { finish(); }

  /// @param task Must not throw.
  /// @throws if there is no memory or no thread: the task is then not executed.
  void post(std::function<void()> task);

  /// Returns once all tasks are done. Inside a task, returns at once, because a task cannot wait
  /// for itself.
  void finish();

 private:
  base::LoopThread::Time doNext();

  base::Mutex mutex_;
  std::deque<std::function<void()>> tasks_ STEPTAPE_GUARDED_BY(mutex_);
  std::optional<base::LoopThread> thread_ STEPTAPE_GUARDED_BY(mutex_);  // uses all members above
};

}  // namespace steptape::detail::profile
