// SPDX-License-Identifier: Apache-2.0
#include "ranks/engine/engine.h"

#include <algorithm>

#include "steptape/base/status.h"

#include "base/running_time.h"
#include "ranks/communicator/group_messages.h"

namespace steptape::detail::ranks {
namespace {

/// Returns when to ask other ranks: early enough to have their answers before a warning or the
/// timeout.
std::chrono::steady_clock::duration askBefore(std::chrono::milliseconds moment) {
  const std::chrono::steady_clock::duration exact = moment;
  return exact - std::min<std::chrono::steady_clock::duration>(exact / 4, std::chrono::seconds(1));
}

/// A caller of poll() may compute for long between two calls, which counts as waiting.
constexpr std::chrono::minutes kLongestBetweenPolls{1};

/// The caller's handle of a QueuedCollective.
class EngineCollective final : public PendingCollective {
 public:
  EngineCollective(std::shared_ptr<Engine> engine, const CollectiveCall& call, StallLimits limits);
  bool poll() override;
  void wait() override;
  void waitForRanks() override;

 private:
  using Clock = std::chrono::steady_clock;

  bool hasEnded();
  bool haveRanksCome() { return hasEnded() || collective_->allArrived(); }
  void advance();
  template <typename Condition>
  void waitUntil(const Condition& condition);
  /// Asks for other ranks, depending on how long this rank has waited.
  void lookForOthers(Clock::duration waited);
  /// Ends the wait if the transport knows that it would be in vain, so that operations in flight
  /// need not use their whole timeout.
  template <typename Condition>
  void giveUpIfLost(const Condition& condition);
  [[noreturn]] void giveUp();

  std::shared_ptr<Engine> engine_;
  StallLimits limits_;
  std::shared_ptr<QueuedCollective> collective_;
  PollPause pause_;  // of both waits, which share the time limit
  bool hasPolled_ = false;
  base::RunningTime polled_{kLongestBetweenPolls};  // from the first poll() on
  bool hasWarned_ = false;
};

EngineCollective::EngineCollective(std::shared_ptr<Engine> engine, const CollectiveCall& call,
                                   StallLimits limits)
    : engine_(std::move(engine)),
      limits_(std::move(limits)),
      collective_(engine_->queue.add(call)),
      pause_(limits_.timeout) {
  // Otherwise, notes would accumulate on a rank for which others often wait but that never waits
  // itself.
  constexpr std::uint64_t kTakeInEvery = 1024;
  if (collective_->sequence() % kTakeInEvery == 0) {
    engine_->notes.takeIn();
  }
}

bool EngineCollective::hasEnded() {
  if (!collective_->hasEnded()) {
    advance();
  }
  if (collective_->hasEnded()) {
    collective_->rethrowFailure();
    return true;
  }
  return false;
}

void EngineCollective::advance() {
  const TransportUse use(*engine_->transport);
  if (use) {
    engine_->queue.advance();
    return;
  }
  engine_->queue.breakUp(ErrorCode::kFailedPrecondition,
                         engine_->transport->endedBecause() + " with " +
                             collective_->call().describe() + " under way");
}

bool EngineCollective::poll() {
  if (hasEnded()) {
    return true;
  }
  if (!hasPolled_) {
    hasPolled_ = true;
    polled_.restart();
  }
  const Clock::duration waited = polled_.look();
  constexpr std::chrono::milliseconds kUsualWait{10};
  if (waited > kUsualWait) {
    lookForOthers(waited);
    giveUpIfLost([this] { return hasEnded(); });
  }
  if (waited > limits_.timeout) {
    giveUp();
  }
  return false;
}

void EngineCollective::wait() {
  waitUntil([this] { return hasEnded(); });
}

void EngineCollective::waitForRanks() {
  waitUntil([this] { return haveRanksCome(); });
}

template <typename Condition>
void EngineCollective::waitUntil(const Condition& condition) {
  while (!condition()) {
    if (!pause_.next()) {
      giveUp();
    }
    if (pause_.hasNapped() || pause_.waited() > askBefore(limits_.timeout)) {
      lookForOthers(pause_.waited());
    }
    if (pause_.hasNapped()) {
      giveUpIfLost(condition);
    }
  }
}

void EngineCollective::lookForOthers(Clock::duration waited) {
  const TransportUse use(*engine_->transport);
  if (!use) {
    return;
  }
  const CollectiveCall& call = collective_->call();
  const std::uint64_t latest = engine_->queue.latest();
  engine_->notes.takeIn();
  const bool warns = limits_.warnAfter.count() > 0;
  if (waited > askBefore(limits_.timeout) || (warns && waited > askBefore(limits_.warnAfter))) {
    engine_->notes.announce(latest, collective_->sequence(), call);
  } else {
    engine_->notes.answer(latest, collective_->sequence(), call);
  }
  if (warns && !hasWarned_ && waited > limits_.warnAfter) {
    hasWarned_ = true;
    const std::string missing = engine_->notes.missing(collective_->sequence());
    limits_.warn(stallText(call.title(), limits_.warnAfter,
                           missing.empty() ? "data: all ranks have come" : missing));
  }
}

template <typename Condition>
void EngineCollective::giveUpIfLost(const Condition& condition) {
  const std::string lost = engine_->transport->lostBecause();
  // Checks again: a rank may end as soon as it has done its part.
  if (lost.empty() || condition()) {
    return;
  }
  const std::string why = collective_->call().describe() + " is not waited for, since " + lost;
  engine_->queue.breakUp(ErrorCode::kDeadlineExceeded, why);
  throw Error(ErrorCode::kDeadlineExceeded, why);
}

void EngineCollective::giveUp() {
  const std::string missing = engine_->notes.missing(collective_->sequence());
  const std::string why =
      deadlineText(collective_->call(), limits_.timeout, missing, engine_->transport->map());
  engine_->queue.breakUp(ErrorCode::kDeadlineExceeded, why);
  throw Error(ErrorCode::kDeadlineExceeded, why);
}

}  // namespace

std::unique_ptr<PendingCollective> startOn(const std::shared_ptr<Engine>& engine,
                                           const CollectiveCall& call, StallLimits limits) {
  const TransportUse use(*engine->transport);  // if it may not be used, the transport throws
  return std::make_unique<EngineCollective>(engine, call, std::move(limits));
}

}  // namespace steptape::detail::ranks
