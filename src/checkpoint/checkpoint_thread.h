// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <sys/types.h>
#include <thread>

#include "steptape/base/status.h"

#include "base/mutex.h"

namespace steptape::detail {

/// Runs one job at a time on a thread of its own, which starts with the first job.
///
/// The thread has the lowest priority: threads that train get the cores. While one waits for the
/// job, its core is free.
///
/// std::exit() waits for a job that is under way. The child of a fork() has no job.
///
/// Not thread-safe: one thread at a time makes the calls.
class CheckpointThread {
 public:
  CheckpointThread();
  CheckpointThread(const CheckpointThread&) = delete;
  CheckpointThread& operator=(const CheckpointThread&) = delete;
  /// Waits for the job.
  ~CheckpointThread();

  /// Starts a job; runs it at once if the system has no thread left. REQUIRES: wait() since the
  /// last one.
  void start(std::function<Status()> job);

  /// Waits for the job. @return what it returned; success if there was none.
  Status wait();
  /// The time that the last job took.
  double jobSeconds();

  /// Whether this process is a child that its process has forked.
  bool isOfParent() const;

  /// For std::exit().
  void waitUntilIdle();

 private:
  bool startThread();
  void run();
  /// Sleeps while there is nothing to do. @return false when the thread is to end.
  bool takeJob(std::function<Status()>& job);
  void finishJob(Status result, double seconds);

  Mutex mutex_;
  CondVar changed_;
  std::function<Status()> job_ STEPTAPE_GUARDED_BY(mutex_);  ///< Not taken yet.
  bool isBusy_ STEPTAPE_GUARDED_BY(mutex_) = false;
  bool isEnding_ STEPTAPE_GUARDED_BY(mutex_) = false;
  Status result_ STEPTAPE_GUARDED_BY(mutex_);
  double jobSeconds_ STEPTAPE_GUARDED_BY(mutex_) = 0;
  const pid_t process_;  ///< The thread is not in a child of it.
  std::thread thread_;
};

}  // namespace steptape::detail
