// SPDX-License-Identifier: Apache-2.0
// How Communicator starts a collective after checking its arguments.

#include <new>
#include <utility>

#include "steptape/base/status.h"
#include "steptape/ranks/communicator.h"

#include "ranks/communicator/collective_call.h"
#include "ranks/communicator/collective_details.h"
#include "ranks/communicator/collective_span.h"
#include "ranks/communicator/collective_state.h"
#include "ranks/communicator/grouped_elements.h"
#include "ranks/communicator/single_rank.h"

namespace steptape {

using detail::ranks::CollectiveCall;
using detail::ranks::PendingCollective;

std::unique_ptr<PendingCollective> Communicator::start(const CollectiveCall& call) {
  throw Error(ErrorCode::kFailedPrecondition,
              call.describe() + ": a communicator of several ranks must override start()");
}

std::unique_ptr<PendingCollective> Communicator::startOn(Communicator& other,
                                                         const CollectiveCall& call) {
  return other.beginPacked(call);
}

std::unique_ptr<PendingCollective> Communicator::beginPacked(const CollectiveCall& call) {
  if (!droppedError_->empty()) {
    const std::string dropped = std::exchange(*droppedError_, "");
    throw Error(ErrorCode::kFailedPrecondition,
                call.describe() +
                    ": not started, because the error of a collective without a wait() was "
                    "dropped: " +
                    dropped);
  }
  if (size() == 1) {
    runAlone(call);
    return nullptr;
  }
  std::unique_ptr<PendingCollective> pending = start(call);
  if (pending) {
    pending->reportDroppedErrorsTo(droppedError_);
  }
  return pending;
}

std::unique_ptr<PendingCollective> Communicator::begin(const CollectiveCall& call) {
  std::unique_ptr<PendingCollective> pending = beginPacked(call);
  if (!pending || !call.grouped) {
    return pending;
  }
  try {
    auto grouped =
        std::make_unique<detail::ranks::GroupedCollective>(std::move(pending), call.grouped);
    grouped->reportDroppedErrorsTo(droppedError_);
    return grouped;
  } catch (const std::bad_alloc&) {
    pending->waitQuietly();  // it uses the caller's memory
    throw;
  }
}

void Communicator::run(const CollectiveCall& call) {
  detail::ranks::CollectiveSpan span(detailsWhileRecording(), call);
  detail::ranks::CollectiveState kept(noteStart(call, true));
  if (const std::unique_ptr<PendingCollective> pending = begin(call)) {
    span.waitFor(*pending, kept.token());
  }
  kept.succeed();
  span.succeed();
}

CollectiveHandle Communicator::post(const CollectiveCall& call) {
  detail::ranks::CollectiveState kept(noteStart(call, false));
  detail::ranks::CollectiveDetails* const details = detailsWhileRecording();
  std::unique_ptr<PendingCollective> pending;
  if (details == nullptr) {
    pending = begin(call);
  } else {
    auto recorded = std::make_unique<detail::ranks::RecordedCollective>(*details, call);
    if (recorded->follow(begin(call))) {
      recorded->reportDroppedErrorsTo(droppedError_);
      pending = std::move(recorded);
    }
  }
  if (!pending) {
    kept.succeed();
    return {};
  }
  pending->keep(kept.release());
  return CollectiveHandle(std::move(pending));
}

detail::ranks::CollectiveToken Communicator::noteStart(const CollectiveCall& call,
                                                       bool blocks) noexcept {
  if (size() == 1) {
    return {};
  }
  if (!kept_) {
    try {
      kept_ = std::make_unique<detail::ranks::GroupState>(rank(), size(), jobRanks_);
    } catch (const std::bad_alloc&) {
      return {};
    }
  }
  using Phase = detail::process::RankState::CollectivePhase;
  return kept_->start(
      call, blocks && detail::ranks::comparesRanks(call) ? Phase::kWaiting : Phase::kStarted);
}

detail::ranks::CollectiveDetails* Communicator::detailsWhileRecording() {
  if (detail::process::recordingSession.load(std::memory_order_relaxed) == 0) {
    return nullptr;
  }
  if (!details_) {
    details_ = std::make_unique<detail::ranks::CollectiveDetails>(rank(), size(), jobRanks_);
  }
  return details_.get();
}

}  // namespace steptape
