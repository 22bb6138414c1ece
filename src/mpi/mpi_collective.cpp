// SPDX-License-Identifier: Apache-2.0
#include "mpi/mpi_collective.h"

#include <algorithm>
#include <utility>

#include "steptape/base/error.h"

#include "comm/group_messages.h"
#include "mpi/job_state.h"

namespace steptape::mpi::detail {
namespace {

/// Returns when to ask other ranks: early enough to have their answers before a warning or the
/// timeout.
std::chrono::steady_clock::duration askBefore(std::chrono::milliseconds moment) {
  const std::chrono::steady_clock::duration exact = moment;
  return exact - std::min<std::chrono::steady_clock::duration>(exact / 4, std::chrono::seconds(1));
}

}  // namespace

MpiCollective::MpiCollective(std::shared_ptr<MpiEngine> engine, const CollectiveCall& call,
                             StallLimits limits)
    : engine_(std::move(engine)),
      limits_(std::move(limits)),
      collective_(engine_->queue.add(call)),
      pause_(limits_.timeout) {
  // Otherwise, notes would accumulate on a rank for which others often wait but that never waits
  // itself.
  constexpr std::uint64_t kTakeInEvery = 1024;
  if (collective_->sequence() % kTakeInEvery == 0) {
    engine_->notes.takeIn(call);
  }
}

bool MpiCollective::hasEnded() {
  if (!collective_->hasEnded()) {
    advance();
  }
  if (collective_->hasEnded()) {
    collective_->rethrowFailure();
    return true;
  }
  return false;
}

void MpiCollective::advance() {
  const MpiUse use;
  if (use) {
    engine_->queue.advance();
  } else {
    engine_->queue.breakUp(
        ErrorCode::kFailedPrecondition,
        "MPI was finalized with " + collective_->call().describe() + " under way");
  }
}

bool MpiCollective::poll() {
  if (hasEnded()) {
    return true;
  }
  const Clock::time_point now = Clock::now();
  if (firstPoll_ == Clock::time_point()) {
    firstPoll_ = now;
  }
  constexpr std::chrono::milliseconds kUsualWait{10};
  if (now - firstPoll_ > kUsualWait) {
    lookForOthers(now - firstPoll_);
  }
  if (now - firstPoll_ > limits_.timeout) {
    giveUp();
  }
  return false;
}

void MpiCollective::wait() {
  waitUntil([this] { return hasEnded(); });
}

void MpiCollective::waitForRanks() {
  waitUntil([this] { return haveRanksCome(); });
}

template <typename Condition>
void MpiCollective::waitUntil(const Condition& condition) {
  while (!condition()) {
    if (!pause_.next()) {
      giveUp();
    }
    if (pause_.hasNapped() || pause_.waited() > askBefore(limits_.timeout)) {
      lookForOthers(pause_.waited());
    }
    if (pause_.hasNapped()) {
      giveUpIfJobIsLost();
    }
  }
}

void MpiCollective::lookForOthers(Clock::duration waited) {
  const MpiUse use;
  if (!use) {
    return;
  }
  const CollectiveCall& call = collective_->call();
  const std::uint64_t latest = engine_->queue.latest();
  engine_->notes.takeIn(call);
  const bool warns = limits_.warnAfter.count() > 0;
  if (waited > askBefore(limits_.timeout) || (warns && waited > askBefore(limits_.warnAfter))) {
    engine_->notes.announce(latest, collective_->sequence(), call);
  } else {
    engine_->notes.answer(latest, collective_->sequence(), call);
  }
  if (warns && !hasWarned_ && waited > limits_.warnAfter) {
    hasWarned_ = true;
    const std::string missing = engine_->notes.missing(collective_->sequence());
    limits_.warn(steptape::detail::stallText(
        call.title(), limits_.warnAfter, missing.empty() ? "data: all ranks have come" : missing));
  }
}

void MpiCollective::giveUpIfJobIsLost() {
  const std::string lost = stuckBecause();
  if (lost.empty()) {
    return;
  }
  engine_->queue.breakUp(ErrorCode::kDeadlineExceeded,
                         collective_->call().describe() + " is not waited for, since " + lost);
  collective_->rethrowFailure();
}

void MpiCollective::giveUp() {
  const std::string missing = engine_->notes.missing(collective_->sequence());
  const std::string why = steptape::detail::deadlineText(collective_->call(), limits_.timeout,
                                                         missing, engine_->group->map());
  engine_->queue.breakUp(ErrorCode::kDeadlineExceeded, why);
  throw Error(ErrorCode::kDeadlineExceeded, why);
}

}  // namespace steptape::mpi::detail
