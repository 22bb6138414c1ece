// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "base/loop_thread.h"
#include "base/mutex.h"
#include "train/replicas/messages/chain_queue.h"

namespace steptape::detail::train {

/// A thread that executes chains of collectives, in the order in which they were pushed. It sleeps
/// while there are none.
///
/// @threads Thread-safe. Only the thread uses the chains' communicator between push() and finish().
class ChainThread {
 public:
  ChainThread();
  /// Starts no further collective, and waits for those in flight: for each at most the
  /// communicator's timeout.
  ~ChainThread() = default;
  ChainThread(const ChainThread&) = delete;
  ChainThread& operator=(const ChainThread&) = delete;

  /// `chain` must exist until finish() has returned.
  void push(CollectiveChain& chain);

  /// Waits for all chains.
  /// @throws the error of a collective, now or before.
  void finish();

 private:
  /// Takes what was pushed, and waits for one collective. @return when to do so again.
  base::LoopThread::Time goOn();

  base::Mutex mutex_;
  std::vector<CollectiveChain*> pushed_ STEPTAPE_GUARDED_BY(mutex_);
  ChainQueue queue_;         // only for the thread, unless it is idle
  base::LoopThread thread_;  // last: uses all members above
};

}  // namespace steptape::detail::train
