// SPDX-License-Identifier: Apache-2.0
#include "ranks/communicator/collective_span.h"

#include <utility>

#include "ranks/communicator/collective_state.h"

namespace steptape::detail::ranks {
namespace {

/// Splits the wait into two spans if the implementation knows when all ranks have arrived.
void waitInParts(const CollectiveCall& call, PendingCollective& pending,
                 const CollectiveToken& token) {
  if (comparesRanks(call)) {
    {
      const NestedSpan waiting(SpanKind::kWait, kWaitForRanks);
      pending.waitForRanks();
    }
    notePhase(token, process::RankState::CollectivePhase::kTransfer);
  }
  pending.wait();
}

}  // namespace

void CollectiveSpan::begin() noexcept {
  if (!process::beginSpan(SpanKind::kCollective, collectiveSpanName(call_.kind), 0,
                          SpanRecord::kNoPayload, this)) {
    details_ = nullptr;
  }
}

void CollectiveSpan::end() noexcept {
  // Read first, so that the span does not include the search for its details.
  const std::uint64_t endTicks = readTicks();
  if (process::ThreadRecorder* const recorder = process::currentRecorder) {
    recorder->setDetails(this, details_->idOf(call_, hasSucceeded_));
    recorder->end(this, endTicks);
  }
}

void CollectiveSpan::waitFor(PendingCollective& pending, const CollectiveToken& token) const {
  if (details_ != nullptr || token.number != 0) {
    waitInParts(call_, pending, token);
  } else {
    pending.wait();
  }
}

RecordedCollective::RecordedCollective(CollectiveDetails& details, const CollectiveCall& call)
    : details_(details),
      call_(call),
      span_(process::beginDetached(SpanKind::kCollective, collectiveSpanName(call.kind),
                                   SpanRecord::kNoPayload)) {}

RecordedCollective::~RecordedCollective() {
  blocked_.reset();  // if the wait has thrown
  span_.payload = SpanRecord::payloadOf(-1, details_.idOf(call_, hasSucceeded_));
  process::endDetached(span_);
}

bool RecordedCollective::follow(std::unique_ptr<PendingCollective> pending) {
  pending_ = std::move(pending);
  hasSucceeded_ = pending_ == nullptr;
  return !hasSucceeded_;
}

bool RecordedCollective::poll() {
  hasSucceeded_ = pending_->poll();
  return hasSucceeded_;
}

void RecordedCollective::waitForRanks() {
  blocked_.emplace(SpanKind::kCollective, collectiveWaitName(call_.kind));
  const NestedSpan waiting(SpanKind::kWait, kWaitForRanks);
  pending_->waitForRanks();
}

void RecordedCollective::wait() {
  if (!blocked_ && comparesRanks(call_)) {
    waitForRanks();
  } else if (!blocked_) {
    blocked_.emplace(SpanKind::kCollective, collectiveWaitName(call_.kind));
  }
  pending_->wait();
  blocked_.reset();
  hasSucceeded_ = true;
}

}  // namespace steptape::detail::ranks
