// SPDX-License-Identifier: Apache-2.0
#include "process/spans/span_collector.h"

#include "steptape/base/status.h"

#include "process/spans/recorder_registry.h"
#include "process/spans/zone_listener.h"

namespace steptape::detail::process {
namespace {

constexpr std::size_t kMaxRecordsPerThread = std::size_t{1} << 26;

std::size_t ringCapacity(std::size_t recordsPerThread) {
  if (recordsPerThread == 0 || recordsPerThread > kMaxRecordsPerThread) {
    throw Error(ErrorCode::kInvalidArgument,
                "ProfilerOptions::recordsPerThread: got " + std::to_string(recordsPerThread) +
                    "; expected 1 to " + std::to_string(kMaxRecordsPerThread));
  }
  std::size_t capacity = 1;
  while (capacity < recordsPerThread) {
    capacity *= 2;
  }
  return capacity;
}

}  // namespace

SpanCollector::SpanCollector(std::size_t recordsPerThread, bool zones)
    : session_(RecorderRegistry::instance().open(ringCapacity(recordsPerThread))), zones_(zones) {
  if (session_ == 0) {
    throw Error(ErrorCode::kFailedPrecondition,
                "cannot start a profiler while another one runs in this process; stop() it first");
  }
}

SpanCollector::~SpanCollector() {
  stopRecording();
  RecorderRegistry::instance().close();
}

void SpanCollector::startRecording() noexcept {
  recordingSession.store(session_, std::memory_order_relaxed);
  if (zones_) {
    setZoneSession(session_);
  }
}

void SpanCollector::stopRecording() noexcept {
  setZoneSession(0);
  recordingSession.store(0, std::memory_order_relaxed);
}

bool SpanCollector::isRecording() const noexcept {
  return recordingSession.load(std::memory_order_relaxed) == session_;
}

std::uint64_t SpanCollector::recordCount() const {
  return RecorderRegistry::instance().countPushed();
}

void SpanCollector::drain(const std::function<void(const SpanBatch&)>& sink) {
  auto& registry = RecorderRegistry::instance();
  for (const auto& track : registry.tracks()) {
    // Read before draining, so that the drain gets all records of a thread that has exited.
    const bool exited = track->threadExited.load(std::memory_order_acquire);
    const std::uint64_t dropped = track->ring.drainTo(copy_);
    if (exited) {
      registry.forget(track);
    }
    if (copy_.empty() && dropped == 0) {
      continue;
    }
    try {
      sink({track->threadId, registry.nameOf(*track),
            ArrayView<const SpanRecord>(copy_.data(), copy_.size()), dropped});
    } catch (...) {
      registry.countUnrecorded(copy_.size() + dropped);  // they are lost
      throw;
    }
  }
  if (const std::uint64_t unrecorded = registry.takeUnrecorded(); unrecorded != 0) {
    sink({0, {}, {}, unrecorded});
  }
}

}  // namespace steptape::detail::process
