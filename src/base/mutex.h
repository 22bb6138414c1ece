// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

// Clang's thread-safety annotations. The std::mutex of libstdc++ does not have them.
// @source https://clang.llvm.org/docs/ThreadSafetyAnalysis.html
#if defined(__clang__)
#define STEPTAPE_THREAD_ANNOTATION(x) __attribute__((x))
#else
#define STEPTAPE_THREAD_ANNOTATION(x)
#endif
#define STEPTAPE_GUARDED_BY(x) STEPTAPE_THREAD_ANNOTATION(guarded_by(x))
#define STEPTAPE_REQUIRES(x) STEPTAPE_THREAD_ANNOTATION(requires_capability(x))

namespace steptape::detail::base {

/// A std::mutex that Clang's thread-safety analysis understands.
class STEPTAPE_THREAD_ANNOTATION(capability("mutex")) Mutex {
 public:
  void lock() STEPTAPE_THREAD_ANNOTATION(acquire_capability()) { mutex_.lock(); }
  void unlock() STEPTAPE_THREAD_ANNOTATION(release_capability()) { mutex_.unlock(); }
  bool tryLock() STEPTAPE_THREAD_ANNOTATION(try_acquire_capability(true)) {
    return mutex_.try_lock();
  }

 private:
  friend class CondVar;
  std::mutex mutex_;
};

/// Holds a Mutex for a scope.
class STEPTAPE_THREAD_ANNOTATION(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) STEPTAPE_THREAD_ANNOTATION(acquire_capability(mutex))
      : mutex_(mutex) {
    mutex_.lock();
  }
  ~MutexLock() STEPTAPE_THREAD_ANNOTATION(release_capability()) { mutex_.unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

/// A condition variable for Mutex. Every wait has a deadline.
class CondVar {
 public:
  /// Waits for a notification; may wake spuriously, like any condition variable.
  /// @return false if `deadline` passed. REQUIRES: `mutex` is held.
  bool waitUntil(Mutex& mutex, std::chrono::steady_clock::time_point deadline)
      STEPTAPE_REQUIRES(mutex) {
    std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
    const bool awake = condition_.wait_until(lock, deadline) == std::cv_status::no_timeout;
    lock.release();
    return awake;
  }
  void notifyOne() noexcept { condition_.notify_one(); }
  void notifyAll() noexcept { condition_.notify_all(); }

 private:
  std::condition_variable condition_;
};

}  // namespace steptape::detail::base
