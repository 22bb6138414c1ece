// SPDX-License-Identifier: Apache-2.0
#include "ranks/engine/shared_slots.h"

#include <algorithm>

#include "ranks/engine/compared_message.h"

namespace steptape::detail::ranks {
namespace {

constexpr std::size_t roundUp(std::size_t bytes, std::size_t to) {
  return (bytes + to - 1) / to * to;
}

/// Returns the bytes of a slot for data. Two slots of each of a few ranks fit a second-level cache.
std::size_t dataSlotBytes(int ranks) {
  constexpr std::size_t kMost = std::size_t{128} << 10;
  constexpr std::size_t kLeast = std::size_t{16} << 10;
  return std::max(kLeast,
                  std::min(kMost, (std::size_t{1} << 20) / static_cast<std::size_t>(ranks)));
}

std::array<std::size_t, kLanes> slotBytesFor(int ranks) {
  constexpr std::size_t kReportBytes = 512;
  return {ComparedMessage::kBytes, kReportBytes, dataSlotBytes(ranks)};
}

std::size_t slotStride(std::size_t slotBytes) {
  return RankBlocks::kLine + roundUp(slotBytes, RankBlocks::kLine);
}

}  // namespace

std::size_t SharedSlots::blockBytesFor(int ranks) {
  constexpr std::size_t kPage = 4096;
  std::size_t bytes = RankBlocks::kSlotsAt;
  for (const std::size_t slotBytes : slotBytesFor(ranks)) {
    bytes += 2 * slotStride(slotBytes);
  }
  return roundUp(bytes, kPage);
}

SharedSlots::OfLanes SharedSlots::ofLanes(const RankBlocks& blocks) {
  const std::array<std::size_t, kLanes> bytes = slotBytesFor(blocks.size());
  std::size_t at = RankBlocks::kSlotsAt;
  const auto make = [&](LaneNumber lane) {
    const std::size_t slotsAt = at;
    at += 2 * slotStride(bytes[lane]);
    return SharedSlots(blocks, RankBlocks::kCountersAt + lane * RankBlocks::kLine, slotsAt,
                       bytes[lane]);
  };
  return {make(kComparisonLane), make(kReportLane), make(kDataLane)};
}

SharedSlots::SharedSlots(const RankBlocks& blocks, std::size_t counterAt, std::size_t slotsAt,
                         std::size_t bytes)
    : blocks_(blocks),
      counterAt_(counterAt),
      slotsAt_(slotsAt),
      bytes_(bytes),
      stride_(slotStride(bytes)) {}

void SharedSlots::arrive() {
  nextToArrive_ = 0;
  blocks_.counterAt(rank(), counterAt_).store(++arrivals_, std::memory_order_release);
}

bool SharedSlots::haveAllArrived() {
  while (nextToArrive_ < size() &&
         blocks_.counterAt(nextToArrive_, counterAt_).load(std::memory_order_acquire) >=
             arrivals_) {
    ++nextToArrive_;
  }
  return nextToArrive_ == size();
}

}  // namespace steptape::detail::ranks
