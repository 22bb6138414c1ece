// SPDX-License-Identifier: Apache-2.0
#include "train/checkpoint/checkpoint_thread.h"

#include <exception>
#include <system_error>
#include <unistd.h>
#include <utility>

#include "steptape/base/clock.h"

#include <ATen/record_function.h>

namespace steptape::detail::train {
namespace {

Status resultOf(const std::function<Status()>& job) {
  try {
    return job();
  } catch (const std::exception& error) {
    return {ErrorCode::kResourceExhausted,
            std::string("cannot write a checkpoint: ") + error.what()};
  }
}

}  // namespace

CheckpointThread::CheckpointThread() : process_(::getpid()) {}

void CheckpointThread::start(std::function<Status()> job) {
  if (!startThread()) {
    Status result = resultOf(job);
    const base::MutexLock lock(mutex_);
    result_ = std::move(result);
    jobSeconds_ = 0;
    return;
  }
  {
    const base::MutexLock lock(mutex_);
    job_ = std::move(job);
  }
  thread_->wake();
}

bool CheckpointThread::isOfParent() const {
  return ::getpid() != process_;
}

bool CheckpointThread::startThread() {
  if (!thread_) {
    constexpr int kLowestPriority = 19;
    // std::exit() destroys objects of LibTorch that a job uses.
    const base::LoopThread::Options options{"steptape-ckpt", kLowestPriority,
                                            base::LoopThread::kUnlimited, /*exitWaits=*/true};
    try {
      thread_.emplace(options, [this] {
        const at::RecordFunctionGuard notProfiled(false);  // Its operators are not part of a step.
        doJob();
        return base::LoopThread::kWhenWoken;
      });
    } catch (const std::system_error&) {
      return false;
    }
  }
  return true;
}

Status CheckpointThread::wait() {
  waitUntilIdle();
  const base::MutexLock lock(mutex_);
  return std::exchange(result_, Status());
}

void CheckpointThread::waitUntilIdle() {
  if (thread_) {
    thread_->waitUntilIdle();
  }
}

double CheckpointThread::jobSeconds() {
  const base::MutexLock lock(mutex_);
  return jobSeconds_;
}

void CheckpointThread::doJob() {
  std::function<Status()> job;
  {
    const base::MutexLock lock(mutex_);
    job = std::exchange(job_, nullptr);
  }
  if (!job) {
    return;
  }
  const std::int64_t start = Clock::system().steadyNanos();
  Status result = resultOf(job);
  job = nullptr;  // The next job may reuse its memory.
  const base::MutexLock lock(mutex_);
  result_ = std::move(result);
  jobSeconds_ = static_cast<double>(Clock::system().steadyNanos() - start) * 1e-9;
}

}  // namespace steptape::detail::train
