// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <thread>
#include <vector>

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
  ChainThread(const ChainThread&) = delete;
  ChainThread& operator=(const ChainThread&) = delete;
  /// Starts no further collective, and waits for those in flight: for each at most the
  /// communicator's timeout.
  ~ChainThread();

  /// `chain` must exist until finish() has returned.
  void push(CollectiveChain& chain);

  /// Waits for all chains.
  /// @throws the error of a collective, now or before.
  void finish();

 private:
  void run();
  /// Sleeps while there is nothing to do.
  /// @return false when the thread must end.
  bool takeWork();

  base::Mutex mutex_;
  base::CondVar changed_;
  std::vector<CollectiveChain*> pushed_ STEPTAPE_GUARDED_BY(mutex_);
  bool isIdle_ STEPTAPE_GUARDED_BY(mutex_) = true;
  bool isEnding_ STEPTAPE_GUARDED_BY(mutex_) = false;
  ChainQueue queue_;  // only for the thread, unless isIdle_
  std::thread thread_;
};

}  // namespace steptape::detail::train
