// SPDX-License-Identifier: Apache-2.0
#include "profile/recorder/trigger_agreement.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "steptape/base/clock.h"
#include "steptape/base/status.h"

#include "ranks/communicator/poll_pause.h"

namespace steptape::detail::profile {
namespace {

constexpr std::int64_t kNanosPerRound = 200'000'000;
constexpr std::int64_t kMaxStepsPerRound = 256;
constexpr int kWishBits = 2;
constexpr const char* kWho = "ProfilerOptions::trigger";

}  // namespace

/// Written by one rank. Two rounds are kept: a rank that writes in round n has read round n - 1, so
/// all others have read round n - 2.
struct alignas(64) TriggerAgreement::Slot {
  std::atomic<std::uint64_t> rounds;
  std::atomic<std::uint64_t> hasLeft;
  std::array<std::atomic<std::uint64_t>, 2> told;
};

TriggerAgreement::TriggerAgreement(std::shared_ptr<Communicator> ranks)
    : ranks_(std::move(ranks)), lastRoundNanos_(Clock::system().steadyNanos()) {
  static_assert(std::atomic<std::uint64_t>::is_always_lock_free);  // the ranks are processes
  if (ranks_->crossSize() == 1) {
    memory_ = ranks_->allocateNodeMemory(sizeof(Slot) * static_cast<std::size_t>(ranks_->size()));
  }
  if (memory_ != nullptr) {
    // Not constructed: zero bytes are slots without a round.
    slots_ = reinterpret_cast<Slot*>(memory_->data());
  }
}

TriggerAgreement::~TriggerAgreement() {
  if (memory_ != nullptr) {
    slots_[ranks_->rank()].hasLeft.store(1, std::memory_order_release);
  }
}

TriggerWish TriggerAgreement::endRound(TriggerWish ofThisRank) {
  const std::int64_t now = Clock::system().steadyNanos();
  const Told own{ofThisRank, (now - lastRoundNanos_) / (step_ - lastRound_)};
  const Told ofAll = tellAll(own);
  const std::int64_t wanted = kNanosPerRound / std::max<std::int64_t>(1, ofAll.nanosPerStep);
  // Steps may become slower, so the distance between rounds grows slowly.
  const std::int64_t atMost = std::min(kMaxStepsPerRound, 2 * (step_ - lastRound_));
  nextRound_ = isOver_ ? std::numeric_limits<std::int64_t>::max()
                       : step_ + std::clamp<std::int64_t>(wanted, 1, atMost);
  lastRound_ = step_;
  lastRoundNanos_ = Clock::system().steadyNanos();
  return ofAll.wish;
}

TriggerAgreement::Told TriggerAgreement::tellAll(const Told& ofThisRank) {
  if (memory_ == nullptr) {
    std::array<std::int64_t, 2> values{static_cast<std::int64_t>(ofThisRank.wish),
                                       ofThisRank.nanosPerStep};
    CollectiveOptions options;
    options.name = kWho;
    ranks_->allreduce(values, ReduceOp::kMax, options);
    return {static_cast<TriggerWish>(values[0]), values[1]};
  }
  if (round_ == 0) {
    tellNode({ofThisRank.wish, 0});
    return {TriggerWish::kNone, kNanosPerRound};
  }
  const std::optional<Told> ofAll = readNode();
  if (!ofAll) {
    isOver_ = true;
    return {};
  }
  // A request that is followed now must not be repeated in the next round.
  tellNode({ofAll->wish == TriggerWish::kNone ? ofThisRank.wish : TriggerWish::kNone,
            ofThisRank.nanosPerStep});
  return *ofAll;
}

void TriggerAgreement::tellNode(const Told& ofThisRank) {
  Slot& slot = slots_[ranks_->rank()];
  slot.told[round_ % 2].store(static_cast<std::uint64_t>(ofThisRank.nanosPerStep) << kWishBits |
                                  static_cast<std::uint64_t>(ofThisRank.wish),
                              std::memory_order_relaxed);
  slot.rounds.store(++round_, std::memory_order_release);
}

std::optional<TriggerAgreement::Told> TriggerAgreement::readNode() {
  Told greatest;
  for (int rank = 0; rank < ranks_->size(); ++rank) {
    const Slot& slot = slots_[rank];
    if (!hasTold(slot)) {
      return std::nullopt;
    }
    const std::uint64_t told = slot.told[(round_ - 1) % 2].load(std::memory_order_relaxed);
    const auto wish = static_cast<TriggerWish>(told % (1U << kWishBits));
    greatest.wish = std::max(greatest.wish, wish);
    greatest.nanosPerStep =
        std::max(greatest.nanosPerStep, static_cast<std::int64_t>(told >> kWishBits));
  }
  return greatest;
}

/// Waits until a rank has written in the latest round.
/// @return false if it never will.
bool TriggerAgreement::hasTold(const Slot& slot) {
  const auto isThere = [&] { return slot.rounds.load(std::memory_order_acquire) >= round_; };
  ranks::PollPause pause(ranks_->timeout());
  while (!isThere()) {
    // Checked again: a rank may leave right after it has written.
    if (slot.hasLeft.load(std::memory_order_acquire) != 0 || !pause.next()) {
      return isThere();
    }
    if (pause.hasNapped()) {
      try {
        memory_->checkPeers();
      } catch (const Error&) {
        return isThere();
      }
    }
  }
  return true;
}

}  // namespace steptape::detail::profile
