// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <sys/types.h>
#include <thread>

#include "steptape/base/status.h"

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
  ~CheckpointThread();

  /// Starts a job, or runs it in this call if no thread can be created. REQUIRES: wait() since the
  /// last job.
  void start(std::function<Status()> job);

  /// Waits for the job. @return its status; success if there was no job.
  Status wait();
  /// Returns how long the last job took.
  double jobSeconds();

  /// Returns whether this process is a forked child of the process that made the thread.
  bool isOfParent() const;

  /// Waits for the job and keeps its status for wait().
  void waitUntilIdle();

 private:
  bool startThread();
  void run();
  /// Sleeps while there is nothing to do. @return false when the thread is to end.
  bool takeJob(std::function<Status()>& job);
  void finishJob(Status result, double seconds);

  base::Mutex mutex_;
  base::CondVar changed_;
  std::function<Status()> job_ STEPTAPE_GUARDED_BY(mutex_);  ///< Not started yet.
  bool isBusy_ STEPTAPE_GUARDED_BY(mutex_) = false;
  bool isEnding_ STEPTAPE_GUARDED_BY(mutex_) = false;
  Status result_ STEPTAPE_GUARDED_BY(mutex_);
  double jobSeconds_ STEPTAPE_GUARDED_BY(mutex_) = 0;
  const pid_t process_;  ///< The process that has the thread.
  std::thread thread_;
};

}  // namespace steptape::detail::train
