// SPDX-License-Identifier: Apache-2.0
#include "profile/recorder/task_thread.h"

#include <chrono>
#include <utility>

namespace steptape::detail::profile {
namespace {

// Every wait has a deadline, but only a notification ends it.
std::chrono::steady_clock::time_point later() {
  return std::chrono::steady_clock::now() + std::chrono::hours(1);
}

}  // namespace

TaskThread::~TaskThread() {
  std::thread thread;
  {
    const base::MutexLock lock(mutex_);
    isEnding_ = true;
    thread = std::move(thread_);
  }
  changed_.notifyAll();
  if (thread.joinable()) {
    thread.join();
  }
}

void TaskThread::post(std::function<void()> task) {
  {
    const base::MutexLock lock(mutex_);
    if (!thread_.joinable()) {
      thread_ = std::thread([this] { run(); });
    }
    tasks_.push_back(std::move(task));
  }
  changed_.notifyAll();
}

void TaskThread::finish() {
  const base::MutexLock lock(mutex_);
  if (thread_.get_id() == std::this_thread::get_id()) {
    return;
  }
  while (isBusy_ || !tasks_.empty()) {
    changed_.waitUntil(mutex_, later());
  }
}

void TaskThread::run() {
  while (true) {
    std::function<void()> task;
    {
      const base::MutexLock lock(mutex_);
      while (tasks_.empty() && !isEnding_) {
        changed_.waitUntil(mutex_, later());
      }
      if (tasks_.empty()) {
        return;
      }
      task = std::move(tasks_.front());
      tasks_.pop_front();
      isBusy_ = true;
    }
    task();
    {
      const base::MutexLock lock(mutex_);
      isBusy_ = false;
    }
    changed_.notifyAll();
  }
}

}  // namespace steptape::detail::profile
