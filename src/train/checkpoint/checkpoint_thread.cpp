// SPDX-License-Identifier: Apache-2.0
#include "train/checkpoint/checkpoint_thread.h"

#include <chrono>
#include <cstdlib>
#include <pthread.h>
#include <set>
#include <sys/resource.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include "steptape/base/clock.h"

#include <ATen/record_function.h>

namespace steptape::detail::train {
namespace {

/// std::exit() waits for these threads, because it destroys objects of LibTorch that they use.
struct Threads {
  base::Mutex mutex;
  std::set<CheckpointThread*> all STEPTAPE_GUARDED_BY(mutex);
};

Threads& threads() {
  static Threads* const kThreads = new Threads;  // Never destroyed: used by std::exit().
  return *kThreads;
}

void waitForThreads() {
  const base::MutexLock lock(threads().mutex);
  for (CheckpointThread* thread : threads().all) {
    thread->waitUntilIdle();
  }
}

void waitForThreadsAtExit() {
  static const int kRegistered = std::atexit(&waitForThreads);
  static_cast<void>(kRegistered);  // If it fails for lack of memory, the process does not wait.
}

void becomeBackgroundThread() {
  constexpr int kLowestPriority = 19;
  pthread_setname_np(pthread_self(), "steptape-ckpt");
  // On Linux, 0 is the calling thread.
  static_cast<void>(::setpriority(PRIO_PROCESS, 0, kLowestPriority));
}

std::chrono::steady_clock::time_point nextLook() {
  return std::chrono::steady_clock::now() + std::chrono::seconds(10);
}

Status resultOf(const std::function<Status()>& job) {
  try {
    return job();
  } catch (const std::exception& error) {
    return {ErrorCode::kResourceExhausted,
            std::string("cannot write a checkpoint: ") + error.what()};
  }
}

}  // namespace

CheckpointThread::CheckpointThread() : process_(::getpid()) {
  const base::MutexLock lock(threads().mutex);
  threads().all.insert(this);
}

CheckpointThread::~CheckpointThread() {
  {
    const base::MutexLock lock(threads().mutex);
    threads().all.erase(this);
  }
  if (!thread_.joinable()) {
    return;
  }
  {
    const base::MutexLock lock(mutex_);
    isEnding_ = true;
  }
  changed_.notifyAll();
  thread_.join();
}

void CheckpointThread::start(std::function<Status()> job) {
  if (!startThread()) {
    finishJob(resultOf(job), 0);
    return;
  }
  {
    const base::MutexLock lock(mutex_);
    job_ = std::move(job);
    isBusy_ = true;
  }
  changed_.notifyAll();
}

bool CheckpointThread::isOfParent() const {
  return ::getpid() != process_;
}

bool CheckpointThread::startThread() {
  if (!thread_.joinable()) {
    try {
      thread_ = std::thread([this] { run(); });
    } catch (const std::system_error&) {
      return false;
    }
    waitForThreadsAtExit();
  }
  return true;
}

Status CheckpointThread::wait() {
  waitUntilIdle();
  const base::MutexLock lock(mutex_);
  return std::exchange(result_, Status());
}

void CheckpointThread::waitUntilIdle() {
  if (isOfParent()) {
    return;
  }
  const base::MutexLock lock(mutex_);
  while (isBusy_) {
    changed_.waitUntil(mutex_, nextLook());
  }
}

double CheckpointThread::jobSeconds() {
  const base::MutexLock lock(mutex_);
  return jobSeconds_;
}

void CheckpointThread::run() {
  becomeBackgroundThread();
  const at::RecordFunctionGuard notProfiled(false);  // Its operators are not part of a step.
  std::function<Status()> job;
  while (takeJob(job)) {
    const std::int64_t start = Clock::system().steadyNanos();
    Status result = resultOf(job);
    job = nullptr;  // The next job may reuse its memory.
    finishJob(std::move(result), static_cast<double>(Clock::system().steadyNanos() - start) * 1e-9);
  }
}

bool CheckpointThread::takeJob(std::function<Status()>& job) {
  const base::MutexLock lock(mutex_);
  while (!job_ && !isEnding_) {
    changed_.waitUntil(mutex_, nextLook());
  }
  job = std::exchange(job_, nullptr);
  return job != nullptr;
}

void CheckpointThread::finishJob(Status result, double seconds) {
  {
    const base::MutexLock lock(mutex_);
    result_ = std::move(result);
    jobSeconds_ = seconds;
    isBusy_ = false;
  }
  changed_.notifyAll();
}

}  // namespace steptape::detail::train
