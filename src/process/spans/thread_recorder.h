// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>

#include "steptape/base/clock.h"
#include "steptape/base/export.h"
#include "steptape/process/zone.h"

#include "process/blackbox/thread_state.h"
#include "process/spans/name_cache.h"
#include "process/spans/recorder_registry.h"

// Functions by which a source records spans. Spans that begin and end on one thread nest. `owner`
// is the address of the object whose lifetime is the span, and identifies the span. If the span
// that ends is not the innermost one, the spans inside it are discarded and counted as dropped. An
// end without a begin does nothing, so sources can be switched on and off at any time.
//
// While recording is off, these functions only remove spans that began before.
//
// All functions are inline: a call into a library would cost as much as the work itself.

namespace steptape::detail::process {

/// The open spans of one thread, and the ring for its finished spans.
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

  bool join(std::uint32_t session, const std::string& threadName);
  void rename(const std::string& threadName);

  bool begin(SpanKind kind, std::uint16_t nameId, std::uint16_t forwardThread,
             std::uint64_t payload, const void* owner) noexcept {
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
    span.payload = payload;
    span.nameId = nameId;
    span.forwardThread = forwardThread;
    span.kind = kind;
    span.flags = static_cast<std::uint8_t>(nested ? kNestedInItself : 0);
    if (kind == SpanKind::kOperator) {
      keepOperator(nameId);
    }
    ++depth_;
    span.startTicks = readTicks();  // last, so that a span does not include its own bookkeeping
    return true;
  }

  void end(const void* owner, std::uint64_t endTicks) noexcept {
    if ((depth_ == 0 || open_[depth_ - 1].owner != owner) && !giveUpInside(owner)) {
      return;
    }
    const OpenSpan& span = open_[--depth_];
    if (span.kind == SpanKind::kOperator) {
      const bool isInOperator = depth_ != 0 && open_[depth_ - 1].kind == SpanKind::kOperator;
      keepOperator(isInOperator ? open_[depth_ - 1].nameId : std::uint16_t{0});
    }
    push({span.startTicks, endTicks, span.payload, span.nameId, span.forwardThread,
          static_cast<std::uint8_t>(depth_), span.kind, span.flags, 0});
  }

  void setValue(const void* owner, double value) noexcept {
    for (std::size_t i = depth_; i-- > 0;) {
      if (open_[i].owner == owner) {
        open_[i].payload = SpanRecord::payloadOf(value);
        open_[i].flags |= kHasValue;
        return;
      }
    }
  }

  /// Returns when the innermost open span began. REQUIRES: there is one.
  std::uint64_t innermostStart() const noexcept { return open_[depth_ - 1].startTicks; }

  void push(const SpanRecord& record) noexcept {
    if (session_ == recordingSession.load(std::memory_order_relaxed)) {
      track_->ring.push(record);
    }
  }

  /// Sets the details of the innermost open span. REQUIRES: `owner` is its owner.
  void setDetails(const void* owner, std::uint32_t detailsId) noexcept {
    if (depth_ != 0 && open_[depth_ - 1].owner == owner) {
      OpenSpan& span = open_[depth_ - 1];
      span.payload = (span.payload & SpanRecord::kNoPayload) | std::uint64_t{detailsId} << 32;
    }
  }

 private:
  static constexpr std::size_t kMaxDepth = 256;  // the depth in a record has 8 bits

  struct OpenSpan {
    std::uint64_t startTicks;
    std::uint64_t payload;
    const void* owner;
    /// Has one bit, chosen by its number, for the name of this span and of each enclosing span.
    std::uint64_t nameBits;
    std::uint16_t nameId;
    std::uint16_t forwardThread;
    SpanKind kind;
    std::uint8_t flags;
  };

  STEPTAPE_EXPORT bool isOpen(std::uint16_t nameId) const noexcept;

  /// Makes the span of `owner` the innermost one.
  /// @return false if it is not open on this thread.
  STEPTAPE_EXPORT bool giveUpInside(const void* owner) noexcept;

  std::uint32_t session_ = 0;
  std::size_t depth_ = 0;
  std::shared_ptr<ThreadTrack> track_;
  std::array<OpenSpan, kMaxDepth> open_;
  NameCache names_;
};

/// The recorder of the calling thread; null until the thread records. In contrast to thread_local,
/// `__thread` guarantees that no constructor runs; the TLS model guarantees access without a call.
STEPTAPE_EXPORT extern __thread ThreadRecorder* currentRecorder
    __attribute__((tls_model("initial-exec")));

/// Adds the thread to `session`.
/// @return null if it cannot record.
STEPTAPE_EXPORT ThreadRecorder* joinSession(std::uint32_t session) noexcept;

/// Returns the calling thread's recorder for `session`, or null if there is none.
inline ThreadRecorder* recorderFor(std::uint32_t session) noexcept {
  if (session == 0) {
    return nullptr;
  }
  ThreadRecorder* const recorder = currentRecorder;
  return recorder != nullptr && recorder->session() == session ? recorder : joinSession(session);
}

inline ThreadRecorder* recorderForNow() noexcept {
  return recorderFor(recordingSession.load(std::memory_order_relaxed));
}

/// Begins a span.
///
/// @param name Any lifetime: a new name is copied once.
/// @return whether the span is recorded.
/// @cost About 10 ns with endSpan(), plus two readings of the cycle counter.
inline bool beginSpan(SpanKind kind, const char* name, std::uint16_t forwardThread,
                      std::uint64_t payload, const void* owner) noexcept {
  ThreadRecorder* const recorder = recorderForNow();
  if (recorder == nullptr) {
    return false;
  }
  const std::uint16_t nameId = recorder->names().idOf(kind, name);
  return nameId != 0 && recorder->begin(kind, nameId, forwardThread, payload, owner);
}

inline void endSpan(const void* owner) noexcept {
  const std::uint64_t endTicks = readTicks();  // first; see beginSpan()
  if (ThreadRecorder* const recorder = currentRecorder) {
    recorder->end(owner, endTicks);
  }
}

/// Begins a span that does not nest and may end on another thread.
///
/// @return the argument for endDetached(); its nameId is 0 if the span is not recorded.
STEPTAPE_EXPORT SpanRecord beginDetached(SpanKind kind, const char* name,
                                         std::uint64_t payload) noexcept;
STEPTAPE_EXPORT void endDetached(SpanRecord record) noexcept;

}  // namespace steptape::detail::process
