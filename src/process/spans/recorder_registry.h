// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "steptape/base/export.h"

#include "base/mutex.h"
#include "process/spans/span_ring.h"

namespace steptape::detail::process {

/// The spans that one thread has recorded in the current session.
struct ThreadTrack {
  ThreadTrack(std::uint64_t id, std::uint32_t pthreadId, std::size_t capacity)
      : threadId(id), pthread(pthreadId), ring(capacity) {}

  const std::uint64_t threadId;
  const std::uint32_t pthread;  ///< The lower half of the thread's pthread_t.
  std::string name;             // guarded by the registry's mutex
  SpanRing ring;
  std::atomic<bool> threadExited{false};
};

/// The number of the recording session; 0 while recording is off.
STEPTAPE_EXPORT extern std::atomic<std::uint32_t> recordingSession;

/// Connects recording threads with the one SpanCollector.
///
/// @threads Thread-safe.
class STEPTAPE_EXPORT RecorderRegistry {
 public:
  static RecorderRegistry& instance();

  /// Begins a session.
  /// @return its number, or 0 if another session is open.
  std::uint32_t open(std::size_t recordsPerThread);
  void close();

  /// Adds the calling thread to `session`.
  ///
  /// @param track The thread's track of an earlier session; reused if its size fits.
  /// @param name  The thread's name.
  /// @return null if `session` is over.
  std::shared_ptr<ThreadTrack> join(std::uint32_t session, std::shared_ptr<ThreadTrack> track,
                                    const std::string& name);

  std::vector<std::shared_ptr<ThreadTrack>> tracks();
  void forget(const std::shared_ptr<ThreadTrack>& track);

  void rename(ThreadTrack& track, const std::string& name);
  std::string nameOf(const ThreadTrack& track);

  /// Returns the operating system's number of the thread of this session that `number` means: that
  /// number itself, or the lower half of the thread's pthread_t. If there is none, returns
  /// `number`.
  std::uint64_t threadIdOf(std::uint64_t number);
  /// Returns the name of a thread of this session; empty if there is none.
  std::string nameOf(std::uint64_t threadId);

  /// Returns the number of records that the threads of this session have pushed.
  std::uint64_t countPushed();

  /// Counts lost spans of threads without a ring.
  void countUnrecorded(std::uint64_t spans = 1) noexcept {
    unrecorded_.fetch_add(spans, std::memory_order_relaxed);
  }
  std::uint64_t takeUnrecorded() noexcept {
    return unrecorded_.exchange(0, std::memory_order_relaxed);
  }

 private:
  std::atomic<std::uint64_t> unrecorded_{0};
  base::Mutex mutex_;
  bool open_ STEPTAPE_GUARDED_BY(mutex_) = false;
  std::uint32_t session_ STEPTAPE_GUARDED_BY(mutex_) = 0;
  std::size_t recordsPerThread_ STEPTAPE_GUARDED_BY(mutex_) = 0;
  std::uint64_t pushedByForgotten_ STEPTAPE_GUARDED_BY(mutex_) = 0;
  std::vector<std::shared_ptr<ThreadTrack>> tracks_ STEPTAPE_GUARDED_BY(mutex_);
};

}  // namespace steptape::detail::process
