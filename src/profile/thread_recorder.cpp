// SPDX-License-Identifier: Apache-2.0
#include "profile/thread_recorder.h"

#include <array>
#include <exception>
#include <memory>

#include "steptape/base/clock.h"
#include "steptape/profile/zone.h"

#include "profile/name_cache.h"
#include "profile/recorder_registry.h"
#include "profile/zone_listener.h"

namespace steptape::detail {
namespace {

/// The spans that are open on one thread, and where its finished ones go.
class ThreadRecorder {
 public:
  ThreadRecorder() = default;
  ThreadRecorder(const ThreadRecorder&) = delete;
  ThreadRecorder& operator=(const ThreadRecorder&) = delete;
  ~ThreadRecorder() {
    if (track_ != nullptr) {
      track_->threadExited.store(true, std::memory_order_release);
    }
  }

  std::uint32_t session() const noexcept { return session_; }
  NameCache& names() noexcept { return names_; }

  bool join(std::uint32_t session) {
    auto track = RecorderRegistry::instance().join(session, track_);
    if (track == nullptr) {
      return false;
    }
    track_ = std::move(track);
    session_ = session;
    return true;
  }

  bool begin(ProfileKind kind, std::uint32_t nameId, std::int64_t sequence,
             const void* owner) noexcept {
    if (depth_ == kMaxDepth) {
      track_->ring.countDropped();
      return false;
    }
    OpenSpan& span = open_[depth_];
    const std::uint64_t nameBit = std::uint64_t{1} << (nameId % 64);
    const std::uint64_t outerNames = depth_ == 0 ? 0 : open_[depth_ - 1].nameBits;
    const bool nested = (outerNames & nameBit) != 0 && isOpen(nameId);
    span.owner = owner;
    span.nameBits = outerNames | nameBit;
    span.record = {0,       0,
                   nameId,  static_cast<std::uint16_t>(depth_),
                   kind,    static_cast<std::uint8_t>(nested ? kNestedInItself : 0),
                   sequence};
    ++depth_;
    span.record.startTicks = readTicks();  // last, so that a span does not time its own bookkeeping
    return true;
  }

  void end(const void* owner, std::uint64_t endTicks) noexcept {
    if ((depth_ == 0 || open_[depth_ - 1].owner != owner) && !giveUpInside(owner)) {
      return;
    }
    OpenSpan& span = open_[--depth_];
    span.record.endTicks = endTicks;
    push(span.record);
  }

  void push(const ProfileRecord& record) noexcept {
    if (session_ == recordingSession.load(std::memory_order_relaxed)) {
      track_->ring.push(record);
    }
  }

 private:
  static constexpr std::size_t kMaxDepth = 256;

  struct OpenSpan {
    ProfileRecord record;
    const void* owner;
    /// A bit, chosen by number, for the name of this span and of each that encloses it.
    std::uint64_t nameBits;
  };

  bool isOpen(std::uint32_t nameId) const noexcept {
    for (std::size_t i = 0; i < depth_; ++i) {
      if (open_[i].record.nameId == nameId) {
        return true;
      }
    }
    return false;
  }

  /// Makes the span of `owner` the innermost one. @return false if it is not open on this thread.
  bool giveUpInside(const void* owner) noexcept {
    std::size_t depth = depth_;
    while (depth > 0 && open_[depth - 1].owner != owner) {
      --depth;
    }
    if (depth == 0) {
      return false;
    }
    for (; depth_ > depth; --depth_) {
      track_->ring.countDropped();
    }
    return true;
  }

  std::uint32_t session_ = 0;
  std::size_t depth_ = 0;
  std::shared_ptr<ThreadTrack> track_;
  std::array<OpenSpan, kMaxDepth> open_;
  NameCache names_;
};

// A pointer without a constructor is read without a guard; the owner behind it has the destructor.
thread_local ThreadRecorder* currentRecorder = nullptr;
thread_local bool threadIsExiting = false;

struct RecorderOwner {
  std::unique_ptr<ThreadRecorder> recorder;
  ~RecorderOwner() {
    currentRecorder = nullptr;
    threadIsExiting = true;
  }
};

ThreadRecorder* joinSession(std::uint32_t session) {
  if (threadIsExiting) {
    return nullptr;
  }
  thread_local RecorderOwner owner;
  if (owner.recorder == nullptr) {
    owner.recorder = std::make_unique<ThreadRecorder>();
  }
  if (!owner.recorder->join(session)) {
    return nullptr;
  }
  currentRecorder = owner.recorder.get();
  return currentRecorder;
}

/// Calls `action` with the thread's recorder if the thread can record in `session`.
template <typename Action>
inline void record(std::uint32_t session, const Action& action) noexcept {
  if (session == 0) {
    return;
  }
  try {
    ThreadRecorder* recorder = currentRecorder;
    if (recorder == nullptr || recorder->session() != session) {
      recorder = joinSession(session);
    }
    if (recorder != nullptr) {
      action(*recorder);
    }
  } catch (const std::exception&) {  // no memory for the ring or for a new name
    RecorderRegistry::instance().countUnrecorded();
  }
}

}  // namespace

std::atomic<std::uint32_t> zoneSession{0};

bool beginZone(std::uint32_t session, ZoneSite& site, const void* zone) noexcept {
  bool begun = false;
  if ((session & kZoneListenerBit) != 0) {
    if (ZoneListener* const listener = zoneListener()) {
      listener->onZoneBegin(site.name);
      begun = true;
    }
  }
  record(session & ~kZoneListenerBit, [&](ThreadRecorder& recorder) {
    std::uint32_t nameId = site.nameId.load(std::memory_order_relaxed);
    if (nameId == 0) {
      nameId = internProfileName(ProfileKind::kZone, site.name);
      site.nameId.store(nameId, std::memory_order_relaxed);
    }
    begun |= recorder.begin(ProfileKind::kZone, nameId, -1, zone);
  });
  return begun;
}

void endZone(const void* zone) noexcept {
  endSpan(zone);
  if (ZoneListener* const listener = zoneListener()) {
    listener->onZoneEnd();
  }
}

void beginSpan(ProfileKind kind, const char* name, std::int64_t sequence,
               const void* owner) noexcept {
  record(recordingSession.load(std::memory_order_relaxed), [&](ThreadRecorder& recorder) {
    recorder.begin(kind, recorder.names().idOf(kind, name), sequence, owner);
  });
}

void endSpan(const void* owner) noexcept {
  const std::uint64_t endTicks = readTicks();  // first, as at the start last
  if (ThreadRecorder* const recorder = currentRecorder) {
    recorder->end(owner, endTicks);
  }
}

ProfileRecord beginDetached(ProfileKind kind, const char* name, std::int64_t sequence) noexcept {
  ProfileRecord span{0, 0, 0, 0, kind, kDetached, sequence};
  record(recordingSession.load(std::memory_order_relaxed), [&](ThreadRecorder& recorder) {
    span.nameId = recorder.names().idOf(kind, name);
    span.startTicks = readTicks();
  });
  return span;
}

void endDetached(ProfileRecord span) noexcept {
  span.endTicks = readTicks();
  if (span.nameId != 0) {
    record(recordingSession.load(std::memory_order_relaxed),
           [&](ThreadRecorder& recorder) { recorder.push(span); });
  }
}

}  // namespace steptape::detail
