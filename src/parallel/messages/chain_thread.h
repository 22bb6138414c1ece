// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <thread>
#include <vector>

#include "base/mutex.h"
#include "parallel/messages/chain_queue.h"

namespace steptape::detail {

/// A thread that carries out chains of collectives, in the order in which they were pushed. It
/// sleeps while there are none.
///
/// Thread-safe. The chains' communicator is the thread's between push() and finish().
class ChainThread {
 public:
  ChainThread();
  ChainThread(const ChainThread&) = delete;
  ChainThread& operator=(const ChainThread&) = delete;
  /// Starts no further collective, and waits for those under way: not longer than the
  /// communicator's timeout for each.
  ~ChainThread();

  /// `chain` must live until finish() has returned.
  void push(CollectiveChain& chain);

  /// Waits for all chains. @throws what a collective threw, now or before.
  void finish();

 private:
  void run();
  /// Sleeps while there is nothing to do. @return false when the thread is to end.
  bool takeWork();

  Mutex mutex_;
  CondVar changed_;
  std::vector<CollectiveChain*> pushed_ STEPTAPE_GUARDED_BY(mutex_);
  bool isIdle_ STEPTAPE_GUARDED_BY(mutex_) = true;
  bool isEnding_ STEPTAPE_GUARDED_BY(mutex_) = false;
  ChainQueue queue_;  // The thread's own, unless isIdle_.
  std::thread thread_;
};

}  // namespace steptape::detail
