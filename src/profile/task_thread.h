// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <functional>
#include <thread>

#include "base/mutex.h"

namespace steptape::detail {

/// Does what it is given one after the other on a thread of its own, which starts with the first
/// task.
///
/// @threads Thread-safe, but for construction and destruction.
class TaskThread {
 public:
  TaskThread() = default;
  TaskThread(const TaskThread&) = delete;
  TaskThread& operator=(const TaskThread&) = delete;
  /// Returns once all is done.
  ~TaskThread();

  /// @param task Must not throw.
  /// @throws if there is no memory or no thread: then the task is not done.
  void post(std::function<void()> task);

  /// Returns once everything is done, or at once in a task, which cannot wait for itself.
  void finish();

 private:
  void run();

  Mutex mutex_;
  CondVar changed_;
  std::deque<std::function<void()>> tasks_ STEPTAPE_GUARDED_BY(mutex_);
  bool isBusy_ STEPTAPE_GUARDED_BY(mutex_) = false;
  bool isEnding_ STEPTAPE_GUARDED_BY(mutex_) = false;
  std::thread thread_ STEPTAPE_GUARDED_BY(mutex_);
};

}  // namespace steptape::detail
