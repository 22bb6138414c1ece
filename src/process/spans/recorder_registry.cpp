// SPDX-License-Identifier: Apache-2.0
#include "process/spans/recorder_registry.h"

#include <algorithm>
#include <pthread.h>

#include "base/thread_id.h"

namespace steptape::detail::process {

RecorderRegistry& RecorderRegistry::instance() {
  // Never destroyed: threads may end, and record their last spans, after main() has returned.
  static auto* const kRegistry = new RecorderRegistry;
  return *kRegistry;
}

std::uint32_t RecorderRegistry::open(std::size_t recordsPerThread) {
  const base::MutexLock lock(mutex_);
  if (open_) {
    return 0;
  }
  open_ = true;
  recordsPerThread_ = recordsPerThread;
  pushedByForgotten_ = 0;
  return ++session_;
}

void RecorderRegistry::close() {
  const base::MutexLock lock(mutex_);
  open_ = false;
  tracks_.clear();
}

std::shared_ptr<ThreadTrack> RecorderRegistry::join(std::uint32_t session,
                                                    std::shared_ptr<ThreadTrack> track,
                                                    const std::string& name) {
  const base::MutexLock lock(mutex_);
  if (!open_ || session != session_) {
    return nullptr;
  }
  if (track != nullptr && track->ring.capacity() == recordsPerThread_) {
    track->ring.reset();
  } else {
    const std::uint64_t threadId = base::threadId();
    track = std::make_shared<ThreadTrack>(threadId, static_cast<std::uint32_t>(::pthread_self()),
                                          recordsPerThread_);
  }
  track->name = name;
  tracks_.push_back(track);
  return track;
}

std::vector<std::shared_ptr<ThreadTrack>> RecorderRegistry::tracks() {
  const base::MutexLock lock(mutex_);
  return tracks_;
}

void RecorderRegistry::forget(const std::shared_ptr<ThreadTrack>& track) {
  const base::MutexLock lock(mutex_);
  pushedByForgotten_ += track->ring.pushed();
  tracks_.erase(std::remove(tracks_.begin(), tracks_.end(), track), tracks_.end());
}

std::uint64_t RecorderRegistry::countPushed() {
  const base::MutexLock lock(mutex_);
  std::uint64_t pushed = pushedByForgotten_;
  for (const auto& track : tracks_) {
    pushed += track->ring.pushed();
  }
  return pushed;
}

void RecorderRegistry::rename(ThreadTrack& track, const std::string& name) {
  const base::MutexLock lock(mutex_);
  track.name = name;
}

std::string RecorderRegistry::nameOf(const ThreadTrack& track) {
  const base::MutexLock lock(mutex_);
  return track.name;
}

std::uint64_t RecorderRegistry::threadIdOf(std::uint64_t number) {
  const base::MutexLock lock(mutex_);
  for (const auto& track : tracks_) {
    if (track->threadId == number || track->pthread == number) {
      return track->threadId;
    }
  }
  return number;
}

std::string RecorderRegistry::nameOf(std::uint64_t threadId) {
  const base::MutexLock lock(mutex_);
  for (const auto& track : tracks_) {
    if (track->threadId == threadId) {
      return track->name;
    }
  }
  return "";
}

}  // namespace steptape::detail::process
