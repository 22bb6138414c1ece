// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <sys/types.h>

#include "steptape/base/status.h"

#include "base/loop_thread.h"
#include "base/mutex.h"

namespace steptape::detail::train {

/// Runs one job at a time on a separate thread, which starts with the first job.
///
/// The thread has the lowest priority (nice 19), so that threads that train get the cores. Unlike
/// with SCHED_IDLE, it gets a share of a busy core. A thread that waits for the job frees a core.
///
/// std::exit() waits for a running job. The child of a fork() has no job.
///
/// Not thread-safe: one thread at a time makes the calls.
class CheckpointThread {
 public:
  CheckpointThread();
  CheckpointThread(const CheckpointThread&) = delete;
  CheckpointThread& operator=(const CheckpointThread&) = delete;
  /// Waits for the job.
  ~CheckpointThread() { waitUntilIdle(); }

  /// Starts a job, or runs it in this call if no thread can be created. REQUIRES: wait() since the
  /// last job.
  void start(std::function<Status()> job);

  /// Waits for the job. @return its status; success if there was no job.
  Status wait();
  /// Returns how long the last job took.
  double jobSeconds();

  /// Returns whether this process is a forked child of the process that made the thread.
  bool isOfParent() const;

 private:
  bool startThread();
  void doJob();
  void waitUntilIdle();

  base::Mutex mutex_;
  std::function<Status()> job_ STEPTAPE_GUARDED_BY(mutex_);  ///< Not started yet.
  Status result_ STEPTAPE_GUARDED_BY(mutex_);
  double jobSeconds_ STEPTAPE_GUARDED_BY(mutex_) = 0;
  const pid_t process_;                     ///< The process that has the thread.
  std::optional<base::LoopThread> thread_;  // last: uses all members above
};

}  // namespace steptape::detail::train
