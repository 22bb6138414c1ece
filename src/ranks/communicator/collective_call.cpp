// SPDX-License-Identifier: Apache-2.0
#include "ranks/communicator/collective_call.h"

#include "base/fnv.h"

namespace steptape::detail::ranks {
namespace {

std::string operationName(const CollectiveCall& call) {
  switch (call.kind) {
    case CollectiveKind::kBarrier:
      return "barrier";
    case CollectiveKind::kAllreduce:
      return std::string("allreduce(") + reduceOpName(call.op) + ")";
    case CollectiveKind::kAllreduceMoments:
      return "allreduce(merge)";
    case CollectiveKind::kReduceScatter:
      return std::string("reduceScatter(") + reduceOpName(call.op) + ")";
    case CollectiveKind::kBroadcast:
      return "broadcast";
    case CollectiveKind::kAllgather:
      return "allgather";
    case CollectiveKind::kAlltoall:
      return "alltoall";
    case CollectiveKind::kGather:
      return "gather";
  }
  return "unknown";
}

/// Returns the size on which ranks must agree, or 0 if sizes may differ.
std::size_t commonSize(const CollectiveCall& call) {
  switch (call.kind) {
    case CollectiveKind::kAllreduce:
    case CollectiveKind::kAllreduceMoments:
    case CollectiveKind::kBroadcast:
      return call.count;
    case CollectiveKind::kReduceScatter:
      return call.inputCount;
    case CollectiveKind::kBarrier:
    case CollectiveKind::kAllgather:
    case CollectiveKind::kAlltoall:
    case CollectiveKind::kGather:
      return 0;
  }
  return 0;
}

}  // namespace

const char* reduceOpName(ReduceOp op) {
  switch (op) {
    case ReduceOp::kSum:
      return "sum";
    case ReduceOp::kAverage:
      return "average";
    case ReduceOp::kMin:
      return "min";
    case ReduceOp::kMax:
      return "max";
    case ReduceOp::kProduct:
      return "product";
  }
  return "unknown";
}

bool CollectiveCall::hasElements() const {
  return kind == CollectiveKind::kAllreduce || kind == CollectiveKind::kReduceScatter;
}

std::string CollectiveCall::title() const {
  return operationName(*this) + (name.empty() ? "" : " '" + name + "'");
}

std::string CollectiveCall::describe() const {
  const std::string size = std::to_string(commonSize(*this));
  switch (kind) {
    case CollectiveKind::kAllreduce:
    case CollectiveKind::kReduceScatter:
      return title() + " of " + size + " " + dtypeName(dtype);
    case CollectiveKind::kAllreduceMoments:
      return title() + " of " + size + " moments";
    case CollectiveKind::kBroadcast:
      return title() + " of " + size + " bytes from rank " + std::to_string(root);
    case CollectiveKind::kGather:
      return title() + " to rank " + std::to_string(root);
    case CollectiveKind::kBarrier:
    case CollectiveKind::kAllgather:
    case CollectiveKind::kAlltoall:
      break;
  }
  return title();
}

std::uint64_t CollectiveCall::fingerprint() const {
  base::Fnv<std::uint64_t> fnv;
  fnv.add(static_cast<std::uint8_t>(kind));
  fnv.add(static_cast<std::uint8_t>(op));
  fnv.add(static_cast<std::uint8_t>(dtype));
  fnv.add(static_cast<std::uint64_t>(root));
  fnv.add(static_cast<std::uint64_t>(commonSize(*this)));
  fnv.add(name);
  return fnv.hash();
}

}  // namespace steptape::detail::ranks
