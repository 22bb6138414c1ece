// SPDX-License-Identifier: Apache-2.0
#include "log/writer/overflow_rule.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "log/writer/backend.h"
#include "log/writer/captured_value.h"

namespace steptape::detail::log {
namespace {

/// Wakes the backend and waits until `ready()` returns true, for at most `timeout`.
///
/// @return the last result of ready().
template <typename Ready>
bool waitForBackend(const Ready& ready, std::chrono::milliseconds timeout) {
  constexpr auto kLongestSleep = std::chrono::microseconds(1000);
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  auto pause = std::chrono::microseconds(50);
  while (!ready()) {
    if (std::chrono::steady_clock::now() >= deadline) {
      return ready();
    }
    Backend::instance().wake();
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, kLongestSleep);
  }
  return true;
}

}  // namespace

bool OverflowRule::makeRoom(Producer* producer, std::size_t words) {
  if (!waitForMemory()) {
    return false;
  }
  if (producer->ring.hasRoom(words)) {
    return true;
  }
  switch (context_->options().overflow) {
    case OverflowPolicy::kDropNewest:
      return false;
    case OverflowPolicy::kBlock:
      return waitForRing(producer, words);
    case OverflowPolicy::kDropOldest:
      break;
  }
  discardOldest(&producer->ring);
  return producer->ring.hasRoom(words);
}

bool OverflowRule::waitForMemory() {
  const MemoryBudget& memory = context_->memory();
  if (!memory.isOver()) {
    stalled_.store(false, std::memory_order_relaxed);
    return true;
  }
  switch (context_->options().overflow) {
    case OverflowPolicy::kDropNewest:
      return false;
    case OverflowPolicy::kDropOldest:
      // The stream that cannot write drops its oldest bytes.
      return true;
    case OverflowPolicy::kBlock:
      break;
  }
  if (stalled_.load(std::memory_order_relaxed)) {
    return false;
  }
  const bool room =
      waitForBackend([&memory] { return !memory.isOver(); }, context_->options().blockTimeout);
  stalled_.store(!room, std::memory_order_relaxed);
  return room;
}

bool OverflowRule::waitForRing(Producer* producer, std::size_t words) const {
  if (producer->stalledAt == producer->ring.safe()) {
    return false;
  }
  const bool room = waitForBackend([producer, words] { return producer->ring.hasRoom(words); },
                                   context_->options().blockTimeout);
  producer->stalledAt = room ? ~std::uint64_t{0} : producer->ring.safe();
  return room;
}

void OverflowRule::discardOldest(ScalarRing* ring) {
  std::vector<RingEntry> discarded;
  ring->discardOldest(ScalarRing::kWords / 8, &discarded);
  std::uint64_t scalars = 0;
  for (const RingEntry& entry : discarded) {
    if (entry.isScalar()) {
      ++scalars;
      continue;
    }
    // The thread may log to several runs.
    const std::unique_ptr<CapturedValue> captured(entry.capturedValue());
    RunContext& owner = captured->run->context();
    owner.memory().releaseCaptured(captured->bytes);
    owner.losses().countDropped(captured->scalars, captured->values());
  }
  context_->losses().countDropped(scalars, 0);
}

}  // namespace steptape::detail::log
