// SPDX-License-Identifier: Apache-2.0
#include "ranks/engine/collective_queue.h"

#include <algorithm>
#include <utility>

#include "steptape/base/status.h"

#include "base/mutex.h"

namespace steptape::detail::ranks {
namespace {

std::unique_ptr<CollectiveStages> makeStages(Transport& transport, const CollectiveCall& call) {
  if (!call.hasElements() && call.kind != CollectiveKind::kAllreduceMoments) {
    return makeExchange(transport, call);
  }
  return transport.canReduce(call) ? makeReduction(transport, call)
                                   : makeSliceReduction(transport, call);
}

/// Makes every later collective fail.
/// @return the error for `call`, in which the transport has failed.
Error breakBy(Transport& transport, const CollectiveCall& call, const TransportFailure& failure) {
  const std::string why = call.describe() + " failed on " +
                          transport.map().nameOf(transport.map().rank()) + ": " + failure.what();
  transport.markBroken(why);
  return Error(failure.code(), why);
}

}  // namespace

bool Transfers::haveEnded(Transport& transport) {
  if (pending_.empty()) {
    return true;
  }
  pending_.erase(
      std::remove_if(pending_.begin(), pending_.end(),
                     [&transport](Transfer& transfer) { return transport.hasEnded(transfer); }),
      pending_.end());
  return pending_.empty();
}

QueuedCollective::QueuedCollective(Transport& transport, const CollectiveCall& call,
                                   std::uint64_t sequence)
    : call_(call), sequence_(sequence) {
  if (ComparedMessage::carries(call_)) {
    hasPostedAll_ = true;
  } else {
    stages_ = makeStages(transport, call_);
  }
  if (call_.compareRanks) {
    comparison_.post(transport, call_, sequence_);
  }
}

void QueuedCollective::advance(Transport& transport, bool isTurn, bool areEarlierDecided) {
  if (hasEnded_) {
    return;
  }
  try {
    const bool mayMove =
        !call_.compareRanks || (areEarlierDecided && comparison_.poll(transport, call_));
    if (mayMove && !stages_) {
      comparison_.store(transport, call_);
      hasEnded_ = true;
    } else if (mayMove && (hasStarted_ || isTurn)) {
      hasStarted_ = true;
      advanceData(transport);
    }
  } catch (const Error&) {
    fail(std::current_exception());
  } catch (const TransportFailure& failure) {
    fail(std::make_exception_ptr(breakBy(transport, call_, failure)));
  } catch (const std::exception& error) {
    // For example out of memory: the other ranks continue a collective that this one cannot finish.
    transport.markBroken(call_.describe() + " failed: " + error.what());
    fail(std::current_exception());
  }
}

void QueuedCollective::advanceData(Transport& transport) {
  while (transfers_.haveEnded(transport)) {
    if (hasPostedAll_) {
      stages_->finish();
      hasEnded_ = true;
      return;
    }
    hasPostedAll_ = !stages_->postNext(transfers_);
  }
}

void QueuedCollective::fail(std::exception_ptr failure) {
  failure_ = std::move(failure);
  hasPostedAll_ = true;
  hasEnded_ = true;
}

void QueuedCollective::rethrowFailure() const {
  if (failure_) {
    std::rethrow_exception(failure_);
  }
}

std::shared_ptr<QueuedCollective> CollectiveQueue::add(const CollectiveCall& call) {
  transport_->requireUsable(call);
  std::shared_ptr<QueuedCollective> added;
  try {
    added = std::make_shared<QueuedCollective>(*transport_, call, latest_ + 1);
  } catch (const TransportFailure& failure) {
    throw breakBy(*transport_, call, failure);
  }
  ++latest_;
  transport_->noteLatest(latest_);
  active_.push_back(added);
  advance();
  return added;
}

void CollectiveQueue::advance() {
  bool isTurn = true;
  bool areEarlierDecided = true;
  for (const std::shared_ptr<QueuedCollective>& collective : active_) {
    collective->advance(*transport_, isTurn, areEarlierDecided);
    isTurn = isTurn && collective->hasPostedAll();
    areEarlierDecided = areEarlierDecided && collective->isDecided();
  }
  if (transport_->isBroken()) {
    breakUp(ErrorCode::kFailedPrecondition, "");
    return;
  }
  active_.erase(std::remove_if(active_.begin(), active_.end(),
                               [](const auto& collective) { return collective->hasEnded(); }),
                active_.end());
}

void CollectiveQueue::breakUp(ErrorCode code, const std::string& why) {
  if (!why.empty()) {
    transport_->markBroken(why);
  }
  keepForever();
  for (const std::shared_ptr<QueuedCollective>& collective : active_) {
    if (collective->hasEnded()) {
      continue;
    }
    try {
      transport_->requireUsable(collective->call());
    } catch (const Error& error) {
      collective->fail(std::make_exception_ptr(Error(code, error.what())));
    }
  }
  active_.clear();
}

void CollectiveQueue::keepForever() {
  // A transport such as MPI cannot cancel an operation. Never destroyed, so that no static
  // destructor frees memory to which it still writes.
  static base::Mutex mutex;
  static auto* const kKept = new std::vector<std::shared_ptr<void>>();
  base::MutexLock lock(mutex);
  kKept->push_back(transport_);
  kKept->insert(kKept->end(), active_.begin(), active_.end());
}

}  // namespace steptape::detail::ranks
