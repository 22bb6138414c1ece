// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <functional>
#include <thread>

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
  ~TaskThread();

  /// @param task Must not throw.
  /// @throws if there is no memory or no thread: the task is then not executed.
  void post(std::function<void()> task);

  /// Returns once all tasks are done. Inside a task, returns at once, because a task cannot wait
  /// for itself.
  void finish();

 private:
  void run();

  base::Mutex mutex_;
  base::CondVar changed_;
  std::deque<std::function<void()>> tasks_ STEPTAPE_GUARDED_BY(mutex_);
  bool isBusy_ STEPTAPE_GUARDED_BY(mutex_) = false;
  bool isEnding_ STEPTAPE_GUARDED_BY(mutex_) = false;
  std::thread thread_ STEPTAPE_GUARDED_BY(mutex_);
};

}  // namespace steptape::detail::profile
