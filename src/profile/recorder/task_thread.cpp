// SPDX-License-Identifier: Apache-2.0
#include "profile/recorder/task_thread.h"

#include <utility>

namespace steptape::detail::profile {

void TaskThread::post(std::function<void()> task) {
  const base::MutexLock lock(mutex_);
  if (!thread_) {
    thread_.emplace(base::LoopThread::Options{"steptape-prof", 0, base::LoopThread::kUnlimited},
                    [this] { return doNext(); });
  }
  tasks_.push_back(std::move(task));
  thread_->wake();
}

void TaskThread::finish() {
  base::LoopThread* thread = nullptr;
  {
    const base::MutexLock lock(mutex_);
    thread = thread_ ? &*thread_ : nullptr;
  }
  if (thread != nullptr) {
    thread->waitUntilIdle();
  }
}

base::LoopThread::Time TaskThread::doNext() {
  std::function<void()> task;
  {
    const base::MutexLock lock(mutex_);
    if (tasks_.empty()) {
      return base::LoopThread::kWhenWoken;
    }
    task = std::move(tasks_.front());
    tasks_.pop_front();
  }
  task();
  return base::LoopThread::kAtOnce;
}

}  // namespace steptape::detail::profile
