// SPDX-License-Identifier: Apache-2.0
#include "train/replicas/messages/chain_thread.h"

#include <chrono>

namespace steptape::detail::train {
namespace {

/// Maximum sleep; a notification ends it earlier.
constexpr std::chrono::seconds kLook{10};

std::chrono::steady_clock::time_point nextLook() {
  return std::chrono::steady_clock::now() + kLook;
}

}  // namespace

ChainThread::ChainThread() : thread_([this] { run(); }) {}

ChainThread::~ChainThread() {
  {
    const base::MutexLock lock(mutex_);
    isEnding_ = true;
  }
  changed_.notifyAll();
  thread_.join();
}

void ChainThread::push(CollectiveChain& chain) {
  {
    const base::MutexLock lock(mutex_);
    pushed_.push_back(&chain);
    isIdle_ = false;
  }
  changed_.notifyAll();
}

void ChainThread::finish() {
  const base::MutexLock lock(mutex_);
  // Ends because every collective has a timeout.
  while (!isIdle_) {
    changed_.waitUntil(mutex_, nextLook());
  }
  queue_.rethrowError();
}

void ChainThread::run() {
  while (takeWork()) {
    queue_.waitForOne();
  }
}

bool ChainThread::takeWork() {
  const base::MutexLock lock(mutex_);
  while (!isEnding_) {
    for (CollectiveChain* const chain : pushed_) {
      queue_.push(*chain);
    }
    pushed_.clear();
    if (!queue_.isIdle()) {
      return true;
    }
    isIdle_ = true;
    changed_.notifyAll();
    changed_.waitUntil(mutex_, nextLook());
  }
  return false;
}

}  // namespace steptape::detail::train
