// SPDX-License-Identifier: Apache-2.0
#include "train/replicas/messages/chain_thread.h"

namespace steptape::detail::train {

ChainThread::ChainThread()
    : thread_({"steptape-grad", 0, base::LoopThread::kUnlimited}, [this] { return goOn(); }) {}

void ChainThread::push(CollectiveChain& chain) {
  {
    const base::MutexLock lock(mutex_);
    pushed_.push_back(&chain);
  }
  thread_.wake();
}

void ChainThread::finish() {
  thread_.waitUntilIdle();  // ends because every collective has a timeout
  queue_.rethrowError();
}

base::LoopThread::Time ChainThread::goOn() {
  {
    const base::MutexLock lock(mutex_);
    for (CollectiveChain* const chain : pushed_) {
      queue_.push(*chain);
    }
    pushed_.clear();
  }
  if (queue_.isIdle()) {
    return base::LoopThread::kWhenWoken;
  }
  queue_.waitForOne();
  return base::LoopThread::kAtOnce;
}

}  // namespace steptape::detail::train
