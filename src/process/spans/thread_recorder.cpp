// SPDX-License-Identifier: Apache-2.0
#include "process/spans/thread_recorder.h"

#include <string>
#include <sys/prctl.h>
#include <utility>

#include "steptape/process/zone.h"

#include "process/spans/zone_listener.h"

namespace steptape {
namespace detail::process {

std::atomic<std::uint32_t> zoneSession{0};
std::atomic<std::uint32_t> recordingSession{0};
__thread ThreadRecorder* currentRecorder __attribute__((tls_model("initial-exec"))) = nullptr;

namespace {

thread_local bool threadIsExiting = false;

std::string systemThreadName() {
  char name[16] = {};
  ::prctl(PR_GET_NAME, name);
  return name;
}

/// Returns the number of a zone's name, or 0 if there is no memory for it.
std::uint16_t nameOfSite(ZoneSite& site) noexcept {
  try {
    const std::uint16_t nameId = internSpanName(site.kind, site.name);
    setSpanColor(nameId, site.color);
    site.nameId.store(nameId, std::memory_order_relaxed);
    return nameId;
  } catch (const std::exception&) {
    RecorderRegistry::instance().countUnrecorded();
    return 0;
  }
}

struct RecorderOwner {
  std::unique_ptr<ThreadRecorder> recorder;
  std::string threadName;  // empty: use the operating system's name
  ~RecorderOwner() {
    currentRecorder = nullptr;
    threadIsExiting = true;
  }
};

RecorderOwner& ownerOnThisThread() {
  thread_local RecorderOwner owner;
  return owner;
}

}  // namespace

bool ThreadRecorder::join(std::uint32_t session, const std::string& threadName) {
  auto track = RecorderRegistry::instance().join(session, track_, threadName);
  if (track == nullptr) {
    return false;
  }
  track_ = std::move(track);
  session_ = session;
  return true;
}

void ThreadRecorder::rename(const std::string& threadName) {
  if (track_ != nullptr) {
    RecorderRegistry::instance().rename(*track_, threadName);
  }
}

bool ThreadRecorder::isOpen(std::uint16_t nameId) const noexcept {
  for (std::size_t i = 0; i < depth_; ++i) {
    if (open_[i].nameId == nameId) {
      return true;
    }
  }
  return false;
}

bool ThreadRecorder::giveUpInside(const void* owner) noexcept {
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

ThreadRecorder* joinSession(std::uint32_t session) noexcept {
  if (threadIsExiting) {
    return nullptr;
  }
  try {
    RecorderOwner& owner = ownerOnThisThread();
    if (owner.recorder == nullptr) {
      owner.recorder = std::make_unique<ThreadRecorder>();
    }
    if (!owner.recorder->join(session,
                              owner.threadName.empty() ? systemThreadName() : owner.threadName)) {
      return nullptr;
    }
    currentRecorder = owner.recorder.get();
    return currentRecorder;
  } catch (const std::exception&) {  // no memory for the ring
    RecorderRegistry::instance().countUnrecorded();
    return nullptr;
  }
}

std::uint8_t beginZone(std::uint32_t session, ZoneSite& site, const void* zone) noexcept {
  std::uint8_t state = 0;
  if ((session & kZoneListenerBit) != 0) {
    if (ZoneListener* const listener = zoneListener()) {
      listener->onZoneBegin(site.name);
      state = kZoneListened;
    }
  }
  const bool isKept = (session & kZoneKeptBit) != 0;
  ThreadRecorder* const recorder = recorderFor(session & kZoneSessionBits);
  if (recorder == nullptr && !isKept) {
    return state;
  }
  std::uint16_t nameId = site.nameId.load(std::memory_order_relaxed);
  if (nameId == 0) {
    nameId = nameOfSite(site);
    if (nameId == 0) {
      return state;
    }
  }
  std::uint64_t startTicks = 0;
  if (recorder != nullptr && recorder->begin(site.kind, nameId, 0, SpanRecord::kNoPayload, zone)) {
    state |= kZoneRecorded;
    startTicks = recorder->innermostStart();
  }
  if (isKept && beginKeptZone(nameId, startTicks != 0 ? startTicks : readTicks())) {
    state |= kZoneKept;
  }
  return state;
}

void endZone(std::uint8_t state, const void* zone) noexcept {
  const std::uint64_t endTicks = readTicks();  // first; see beginSpan()
  if (ThreadRecorder* const recorder = currentRecorder) {
    recorder->end(zone, endTicks);
  }
  if ((state & kZoneKept) != 0) {
    endKeptZone(endTicks);
  }
  if ((state & kZoneListened) != 0) {
    if (ZoneListener* const listener = zoneListener()) {
      listener->onZoneEnd();
    }
  }
}

void setZoneValue(const void* zone, double value) noexcept {
  if (ThreadRecorder* const recorder = currentRecorder) {
    recorder->setValue(zone, value);
  }
}

SpanRecord beginDetached(SpanKind kind, const char* name, std::uint64_t payload) noexcept {
  SpanRecord span{0, 0, payload, 0, 0, 0, kind, kDetached, 0};
  if (ThreadRecorder* const recorder = recorderForNow()) {
    span.nameId = recorder->names().idOf(kind, name);
    span.startTicks = readTicks();
  }
  return span;
}

void endDetached(SpanRecord span) noexcept {
  span.endTicks = readTicks();
  if (span.nameId == 0) {
    return;
  }
  if (ThreadRecorder* const recorder = recorderForNow()) {
    recorder->push(span);
  }
}

}  // namespace detail::process

void setThreadName(const char* name) {
  if (detail::process::threadIsExiting) {
    return;
  }
  detail::process::RecorderOwner& owner = detail::process::ownerOnThisThread();
  owner.threadName = name;
  detail::process::nameThreadInState(name);
  if (owner.recorder != nullptr) {
    owner.recorder->rename(owner.threadName);
  }
}

}  // namespace steptape
