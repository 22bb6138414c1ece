// SPDX-License-Identifier: Apache-2.0
#include "steptape/ranks/collective.h"

#include <exception>

#include "ranks/communicator/collective_state.h"

namespace steptape {

detail::ranks::PendingCollective::~PendingCollective() {
  detail::ranks::noteEnd(&token_, false);
}

void detail::ranks::PendingCollective::waitForRanks() {}

void detail::ranks::PendingCollective::reportDroppedErrorsTo(std::shared_ptr<std::string> report) {
  droppedError_ = std::move(report);
}

bool detail::ranks::PendingCollective::pollKept() {
  if (!poll()) {
    return false;
  }
  detail::ranks::noteEnd(&token_, true);
  return true;
}

void detail::ranks::PendingCollective::waitKept() {
  if (token_.number != 0 && token_.comparesRanks) {
    detail::ranks::notePhase(token_, detail::process::RankState::CollectivePhase::kWaiting);
    waitForRanks();
    detail::ranks::notePhase(token_, detail::process::RankState::CollectivePhase::kTransfer);
  }
  wait();
  detail::ranks::noteEnd(&token_, true);
}

void detail::ranks::PendingCollective::waitQuietly() noexcept {
  try {
    waitKept();
  } catch (const std::exception& error) {
    if (droppedError_) {
      *droppedError_ = error.what();
    }
  }
}

CollectiveHandle& CollectiveHandle::operator=(CollectiveHandle&& other) noexcept {
  if (this != &other) {
    finish();
    pending_ = std::move(other.pending_);
  }
  return *this;
}

CollectiveHandle::~CollectiveHandle() {
  finish();
}

void CollectiveHandle::finish() noexcept {
  if (pending_) {
    pending_->waitQuietly();
    pending_.reset();
  }
}

bool CollectiveHandle::isDone() {
  if (!pending_) {
    return true;
  }
  // Moved out first: a collective that throws has ended too.
  std::unique_ptr<detail::ranks::PendingCollective> pending = std::move(pending_);
  if (pending->pollKept()) {
    return true;
  }
  pending_ = std::move(pending);
  return false;
}

void CollectiveHandle::wait() {
  if (const std::unique_ptr<detail::ranks::PendingCollective> pending = std::move(pending_)) {
    pending->waitKept();
  }
}

}  // namespace steptape
