// SPDX-License-Identifier: Apache-2.0
#include "ranks/communicator/node_barrier.h"

#include <sstream>

#include "steptape/base/status.h"

#include "ranks/communicator/group_messages.h"
#include "ranks/communicator/nested_span.h"
#include "ranks/communicator/poll_pause.h"

namespace steptape::detail::ranks {
namespace {

/// Hints to the core that it spins: saves power and speeds up the sibling hyperthread.
void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

bool isStalled(PollPause::Duration waited, std::chrono::milliseconds warnAfter) {
  return warnAfter.count() > 0 && waited > warnAfter;
}

}  // namespace

NodeBarrier::NodeBarrier(NodeMemory& memory, std::size_t offset, int localRank, int localSize)
    : memory_(&memory), localRank_(localRank), localSize_(localSize) {
  // Ranks are processes: an atomic with a lock would use a separate lock in each process.
  static_assert(std::atomic<std::uint64_t>::is_always_lock_free);
  const std::size_t bytes = bytesFor(localSize);
  if (offset % alignof(Line) != 0 || offset > memory.size() || bytes > memory.size() - offset) {
    throw Error(ErrorCode::kInvalidArgument,
                "NodeBarrier: got " + std::to_string(bytes) + " bytes at offset " +
                    std::to_string(offset) + " of " + std::to_string(memory.size()) +
                    "; expected bytes within the memory, at a multiple of " +
                    std::to_string(alignof(Line)));
  }
  // Not constructed: zero bytes are counters at zero, and another rank may already have arrived.
  lines_ = reinterpret_cast<Line*>(memory.data() + offset);
  round_ = lines_[localRank].arrivals.load(std::memory_order_relaxed);
}

void NodeBarrier::arriveAndWait(std::chrono::milliseconds timeout, const char* what) {
  ++round_;
  nextToArrive_ = 0;
  lines_[localRank_].arrivals.store(round_, std::memory_order_release);
  const NestedSpan waiting(SpanKind::kWait, kWaitForRanks);
  PollPause pause(timeout);
  bool hasWarned = false;
  while (!haveAllArrived()) {
    relax();
    if (!pause.next() && !haveAllArrived()) {
      throwMissing(timeout, what);
    }
    if (pause.hasNapped()) {
      checkPeers(what);
      if (!hasWarned && isStalled(pause.waited(), memory_->stallWarningAfter())) {
        hasWarned = true;
        warnOfStall(what);
      }
    }
  }
}

bool NodeBarrier::haveAllArrived() {
  while (nextToArrive_ < localSize_ &&
         lines_[nextToArrive_].arrivals.load(std::memory_order_acquire) >= round_) {
    ++nextToArrive_;
  }
  return nextToArrive_ == localSize_;
}

void NodeBarrier::checkPeers(const char* what) {
  try {
    memory_->checkPeers();
  } catch (const Error& error) {
    // Check again: a rank may end as soon as it has left the last barrier.
    if (!haveAllArrived()) {
      giveUp(std::string(what) + ": " + error.what());
    }
  }
}

std::string NodeBarrier::missing() const {
  std::string names;
  for (int localRank = 0; localRank < localSize_; ++localRank) {
    if (lines_[localRank].arrivals.load(std::memory_order_relaxed) < round_) {
      names += (names.empty() ? "" : ", ") + memory_->nameOfLocalRank(localRank);
    }
  }
  return names;
}

void NodeBarrier::warnOfStall(const char* what) const {
  const std::string names = missing();
  // Empty if the last rank has arrived meanwhile.
  if (!names.empty()) {
    memory_->warnOfStall(stallText(what, memory_->stallWarningAfter(), names));
  }
}

void NodeBarrier::throwMissing(std::chrono::milliseconds timeout, const char* what) const {
  std::ostringstream message;
  message << what << ": " << missing() << " did not arrive within "
          << std::chrono::duration<double>(timeout).count() << " s to "
          << memory_->nameOfLocalRank(localRank_);
  giveUp(message.str());
}

void NodeBarrier::giveUp(const std::string& why) const {
  memory_->reportGivenUp(why);
  throw Error(ErrorCode::kDeadlineExceeded, why);
}

}  // namespace steptape::detail::ranks
