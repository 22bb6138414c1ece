// SPDX-License-Identifier: Apache-2.0
// How Communicator starts a collective, once its arguments are checked.

#include <utility>

#include "steptape/base/error.h"
#include "steptape/distributed/communicator.h"

#include "distributed/collective_call.h"
#include "distributed/run_alone.h"

namespace steptape {

using detail::CollectiveCall;
using detail::PendingCollective;

std::unique_ptr<PendingCollective> Communicator::start(const CollectiveCall& call) {
  throw Error(ErrorCode::kFailedPrecondition,
              call.describe() + ": a communicator of several ranks must override start()");
}

std::unique_ptr<PendingCollective> Communicator::startOn(Communicator& other,
                                                         const CollectiveCall& call) {
  return other.begin(call);
}

std::unique_ptr<PendingCollective> Communicator::begin(const CollectiveCall& call) {
  if (!droppedError_->empty()) {
    const std::string dropped = std::exchange(*droppedError_, "");
    throw Error(ErrorCode::kFailedPrecondition,
                call.describe() +
                    ": not started, because the error of a collective that nobody waited for was "
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

void Communicator::run(const CollectiveCall& call) {
  if (const std::unique_ptr<PendingCollective> pending = begin(call)) {
    pending->wait();
  }
}

CollectiveHandle Communicator::post(const CollectiveCall& call) {
  return CollectiveHandle(begin(call));
}

}  // namespace steptape
