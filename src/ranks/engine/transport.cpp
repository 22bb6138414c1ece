// SPDX-License-Identifier: Apache-2.0
#include "ranks/engine/transport.h"

#include "steptape/ranks/collective.h"

#include "ranks/communicator/element_reduction.h"

namespace steptape::detail::ranks {

TransportFailure::~TransportFailure() = default;
Transport::~Transport() = default;

void Transport::noteLatest(std::uint64_t /*latest*/) {}

bool Transport::enter() {
  return true;
}

void Transport::leave() {}

std::string Transport::endedBecause() const {
  return "the transport was shut down";
}

std::string Transport::unusableBecause() const {
  return "";
}

void Transport::noteBroken(const std::string& /*why*/) {}

std::string Transport::lostBecause() {
  return "";
}

std::string Transport::failedBecause() const {
  return isBroken() ? "the communicator is out of step since " + brokenBecause_ : unusableBecause();
}

void Transport::requireUsable(const CollectiveCall& call) const {
  const std::string why = failedBecause();
  if (!why.empty()) {
    throw Error(ErrorCode::kFailedPrecondition, call.describe() + ": " + why);
  }
}

void Transport::requireUsable(const std::string& name) const {
  const std::string why = failedBecause();
  if (!why.empty()) {
    throw Error(ErrorCode::kFailedPrecondition, name + ": " + why);
  }
}

void Transport::markBroken(const std::string& why) {
  if (!isBroken()) {
    brokenBecause_ = why;
    noteBroken(why);
  }
}

ReduceOp combinedBy(const CollectiveCall& call) {
  return call.op == ReduceOp::kAverage && !isReducedInFloat32(call.dtype) ? ReduceOp::kSum
                                                                          : call.op;
}

std::size_t elementBytes(const CollectiveCall& call) {
  return call.kind == CollectiveKind::kAllreduceMoments ? sizeof(MetricMoments)
                                                        : dtypeSize(call.dtype);
}

}  // namespace steptape::detail::ranks
