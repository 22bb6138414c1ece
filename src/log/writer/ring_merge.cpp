// SPDX-License-Identifier: Apache-2.0
#include "log/writer/ring_merge.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <utility>

namespace steptape::detail::log {

TickTimes timesAt(std::uint64_t ticks, const TickConverter& converter) {
  constexpr std::uint64_t kManyTicks = std::uint64_t{1} << 40;
  return {ticks, converter.wallSeconds(ticks),
          converter.nanosBetween(0, kManyTicks) / static_cast<double>(kManyTicks)};
}

void RingMerge::begin(const Producers& producers, bool everything) {
  constexpr std::uint64_t kAll = ~std::uint64_t{0};
  draining_ = producers;
  const std::uint64_t settled = std::exchange(begun_, readTicks());
  // Not reused: while there is no memory, this throws before an entry leaves its ring.
  waiting_ = std::vector<ScalarRing*>();
  gone_.clear();
  bool crowded = everything;
  for (const auto& producer : draining_) {
    const bool ended = producer->ended.load(std::memory_order_acquire);
    const std::uint64_t words = producer->ring().waiting();
    crowded = crowded || ended || words > ScalarRing::kWords / 2;
    if (words > 0) {
      waiting_.push_back(&producer->ring());
    }
    if (ended) {
      gone_.push_back(producer.get());
    }
  }
  lastTicks_ = crowded ? kAll : settled;
  isIdle_ = waiting_.empty();
}

bool RingMerge::takeNext() {
  constexpr std::size_t kNoLimit = ~std::size_t{0};
  // With one ring, there is nothing to merge: takes pieces that stay in the first-level cache until
  // they are encoded.
  constexpr std::size_t kPieceEntries = 512;
  if (isAlone()) {
    return waiting_.front()->drain(lastTicks_, kPieceEntries, &entries_);
  }
  for (ScalarRing* const ring : waiting_) {
    ring->drain(lastTicks_, kNoLimit, &entries_);
  }
  std::stable_sort(entries_.begin(), entries_.end(),
                   [](const RingEntry& a, const RingEntry& b) { return a.ticks < b.ticks; });
  return true;
}

void RingMerge::addCursors(LogRecordBuilder* record) const {
  for (const auto& producer : draining_) {
    const ScalarRing& ring = producer->ring();
    if (producer->slot() && ring.drained() != ring.safe()) {
      record->addCursor({*producer->slot(), ring.drained()});
    }
  }
}

bool RingMerge::addAnnounced(LogRecordBuilder* record) const {
  int rings = 0;
  for (const auto& producer : draining_) {
    const ScalarRing& ring = producer->ring();
    if (ring.drained() != ring.safe()) {
      if (!producer->slot() || ++rings > 1) {
        return false;
      }
      record->addAnnounced({*producer->slot(), ring.drained()});
    }
  }
  return true;
}

void RingMerge::secure() {
  for (const auto& producer : draining_) {
    producer->ring().secure();
  }
}

std::vector<const OwnedProducer*> RingMerge::finish() {
  waiting_.clear();
  draining_.clear();
  return std::exchange(gone_, {});
}

std::chrono::milliseconds RingMerge::nextPause(bool isRetry) {
  constexpr auto kLongest = std::chrono::milliseconds(32);
  pause_ = isIdle_ && !isRetry ? std::min(pause_ * 2, kLongest) : kPause;
  return pause_;
}

void RingMerge::recalibrateIfDue() {
  constexpr auto kCalibration = std::chrono::seconds(1);
  const std::uint64_t now = readTicks();
  if (now - lastCalibration_ > time_.ticksIn(kCalibration)) {
    time_.recalibrate();
    lastCalibration_ = now;
  }
}

}  // namespace steptape::detail::log
