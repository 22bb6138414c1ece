// SPDX-License-Identifier: Apache-2.0
#include "ranks/engine/compared_message.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "ranks/communicator/element_reduction.h"

namespace steptape::detail::ranks {

static_assert(std::is_trivially_copyable_v<ComparedMessage>);

bool ComparedMessage::carries(const CollectiveCall& call) {
  if (!call.compareRanks) {
    return false;
  }
  if (call.kind == CollectiveKind::kBarrier) {
    return true;
  }
  // Float16 and bfloat16 are summed in the order of the ranks, which not every transport does.
  return call.kind == CollectiveKind::kAllreduce && !isReducedInFloat32(call.dtype) &&
         call.count <= kElementBytes / dtypeSize(call.dtype);
}

ComparedMessage::ComparedMessage(const CollectiveCall& call, std::uint64_t fingerprint)
    : greatest_(fingerprint), greatestInverted_(~fingerprint) {
  if (!carries(call) || call.count == 0) {
    return;
  }
  count_ = static_cast<std::uint32_t>(call.count);
  dtype_ = call.dtype;
  op_ = call.op == ReduceOp::kAverage ? ReduceOp::kSum : call.op;
  std::memcpy(elements_.data(), call.input != nullptr ? call.input : call.output,
              call.count * dtypeSize(call.dtype));
}

void ComparedMessage::store(const CollectiveCall& call, int ranks) const {
  if (count_ == 0) {
    return;
  }
  std::memcpy(call.output, elements_.data(), call.count * dtypeSize(call.dtype));
  if (call.op == ReduceOp::kAverage) {
    divideElements(call.output, call.count, call.dtype, ranks);
  }
}

void ComparedMessage::merge(const ComparedMessage& other) {
  greatest_ = std::max(greatest_, other.greatest_);
  greatestInverted_ = std::max(greatestInverted_, other.greatestInverted_);
  if (count_ != other.count_ || dtype_ != other.dtype_ || op_ != other.op_) {
    return;
  }
  const std::array<const void*, 2> parts{other.elements_.data(), elements_.data()};
  reduceElements(parts, count_, dtype_, op_, elements_.data());
}

void ComparedMessage::mergeInOrder(int rank, const void* bytes) {
  ComparedMessage other;
  std::memcpy(static_cast<void*>(&other), bytes, kBytes);
  if (rank == 0) {
    *this = other;
  } else {
    merge(other);
  }
}

}  // namespace steptape::detail::ranks
