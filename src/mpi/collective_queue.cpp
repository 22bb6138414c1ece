// SPDX-License-Identifier: Apache-2.0
#include "mpi/collective_queue.h"

#include <algorithm>
#include <utility>

#include "steptape/base/error.h"

#include "base/mutex.h"
#include "comm/element_reduction.h"

namespace steptape::mpi::detail {
namespace {

using steptape::detail::CollectiveKind;

std::unique_ptr<CollectiveStages> makeStages(MpiGroup& group, const CollectiveCall& call) {
  if (call.hasElements() && steptape::detail::isReducedInFloat32(call.dtype)) {
    return makeHalfReduction(group, call);
  }
  if (call.hasElements() || call.kind == CollectiveKind::kAllreduceMoments) {
    return makeReduction(group, call);
  }
  return makeExchange(group, call);
}

}  // namespace

bool Requests::haveEnded(MpiGroup& group, const CollectiveCall& call) {
  if (pending_.empty()) {
    return true;
  }
  int haveAll = 0;
  group.check(MPI_Testall(static_cast<int>(pending_.size()), pending_.data(), &haveAll,
                          MPI_STATUSES_IGNORE),
              call);
  if (haveAll != 0) {
    pending_.clear();
  }
  return haveAll != 0;
}

QueuedCollective::QueuedCollective(MpiGroup& group, const CollectiveCall& call,
                                   std::uint64_t sequence)
    : call_(call), sequence_(sequence) {
  if (ComparedMessage::carries(call_)) {
    hasPostedAll_ = true;
  } else {
    stages_ = makeStages(group, call_);
  }
  if (call_.compareRanks) {
    comparison_.post(group, call_, sequence_);
  }
}

void QueuedCollective::advance(MpiGroup& group, bool isTurn, bool areEarlierDecided) {
  if (hasEnded_) {
    return;
  }
  try {
    const bool mayMove =
        !call_.compareRanks || (areEarlierDecided && comparison_.poll(group, call_));
    if (mayMove && !stages_) {
      comparison_.store(group, call_);
      hasEnded_ = true;
    } else if (mayMove && (hasStarted_ || isTurn)) {
      hasStarted_ = true;
      advanceData(group);
    }
  } catch (const Error&) {
    fail(std::current_exception());
  } catch (const std::exception& error) {
    // For example out of memory: the other ranks continue a collective that this one cannot finish.
    group.markBroken(call_.describe() + " failed: " + error.what());
    fail(std::current_exception());
  }
}

void QueuedCollective::advanceData(MpiGroup& group) {
  while (requests_.haveEnded(group, call_)) {
    if (hasPostedAll_) {
      stages_->finish();
      hasEnded_ = true;
      return;
    }
    hasPostedAll_ = !stages_->postNext(requests_);
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
  group_->checkUsable(call);
  auto added = std::make_shared<QueuedCollective>(*group_, call, ++latest_);
  active_.push_back(added);
  advance();
  return added;
}

void CollectiveQueue::advance() {
  bool isTurn = true;
  bool areEarlierDecided = true;
  for (const std::shared_ptr<QueuedCollective>& collective : active_) {
    collective->advance(*group_, isTurn, areEarlierDecided);
    isTurn = isTurn && collective->hasPostedAll();
    areEarlierDecided = areEarlierDecided && collective->isDecided();
  }
  if (group_->isBroken()) {
    breakUp(ErrorCode::kFailedPrecondition, "");
    return;
  }
  active_.erase(std::remove_if(active_.begin(), active_.end(),
                               [](const auto& collective) { return collective->hasEnded(); }),
                active_.end());
}

void CollectiveQueue::breakUp(ErrorCode code, const std::string& why) {
  if (!why.empty()) {
    group_->markBroken(why);
  }
  keepForever();
  for (const std::shared_ptr<QueuedCollective>& collective : active_) {
    if (collective->hasEnded()) {
      continue;
    }
    try {
      group_->checkUsable(collective->call());
    } catch (const Error& error) {
      collective->fail(std::make_exception_ptr(Error(code, error.what())));
    }
  }
  active_.clear();
}

void CollectiveQueue::keepForever() {
  // MPI cannot cancel a collective. Never destroyed, so that no static destructor frees memory to
  // which MPI still writes.
  static Mutex mutex;
  static auto* const kKept = new std::vector<std::shared_ptr<void>>();
  MutexLock lock(mutex);
  kKept->push_back(group_);
  kKept->insert(kKept->end(), active_.begin(), active_.end());
}

}  // namespace steptape::mpi::detail
