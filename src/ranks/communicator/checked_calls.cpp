// SPDX-License-Identifier: Apache-2.0
#include "ranks/communicator/checked_calls.h"

#include <cstdint>

#include "steptape/base/status.h"

#include "base/element.h"
#include "ranks/communicator/grouped_elements.h"

namespace steptape::detail::ranks {
namespace {

[[noreturn]] void refuse(const CollectiveCall& call, const std::string& why) {
  throw Error(ErrorCode::kInvalidArgument, call.describe() + ": " + why);
}

void checkReduction(const CollectiveCall& call) {
  if (call.op == ReduceOp::kAverage && !base::isFloatingPoint(call.dtype)) {
    refuse(call, std::string("got ") + dtypeName(call.dtype) +
                     "; expected floating-point numbers for an average");
  }
  if ((call.output == nullptr && call.count > 0) ||
      (call.input == nullptr && call.inputCount > 0)) {
    refuse(call, "got null; expected data");
  }
}

bool overlap(const void* a, std::size_t aBytes, const void* b, std::size_t bBytes) {
  const auto aBegin = reinterpret_cast<std::uintptr_t>(a);
  const auto bBegin = reinterpret_cast<std::uintptr_t>(b);
  return aBegin < bBegin + bBytes && bBegin < aBegin + aBytes;
}

bool overlap(const Elements& a, const Elements& b) {
  return overlap(a.data(), a.bytes(), b.data(), b.bytes());
}

}  // namespace

CollectiveCall callFor(CollectiveKind kind, const CollectiveOptions& options) {
  CollectiveCall call;
  call.kind = kind;
  call.name = options.name;
  call.compareRanks = options.compareRanks;
  return call;
}

CollectiveCall allreduceCall(const Elements& data, ReduceOp op, const CollectiveOptions& options) {
  CollectiveCall call = callFor(CollectiveKind::kAllreduce, options);
  call.op = op;
  call.dtype = data.dtype();
  call.output = data.data();
  call.count = data.count();
  checkReduction(call);
  return call;
}

CollectiveCall copyingAllreduceCall(const Elements& from, const Elements& to, ReduceOp op,
                                    const CollectiveOptions& options) {
  CollectiveCall call = allreduceCall(to, op, options);
  if (from.dtype() != to.dtype() || from.count() != to.count()) {
    refuse(call, "got an input of " + std::to_string(from.count()) + " " + dtypeName(from.dtype()) +
                     "; expected the same");
  }
  if (from.data() == to.data()) {
    return call;
  }
  if (overlap(from, to)) {
    refuse(call, "got an input and an output that overlap; expected separate or equal memory");
  }
  call.input = from.data();
  call.inputCount = from.count();
  checkReduction(call);
  return call;
}

CollectiveCall groupedAllreduceCall(const std::vector<Elements>& group, ReduceOp op,
                                    const CollectiveOptions& options) {
  const auto packed = std::make_shared<GroupedElements>(group);
  CollectiveCall call = allreduceCall(packed->all(), op, options);
  call.grouped = packed;
  return call;
}

CollectiveCall momentsCall(ArrayView<MetricMoments> data, const CollectiveOptions& options) {
  CollectiveCall call = callFor(CollectiveKind::kAllreduceMoments, options);
  call.output = data.data();
  call.count = data.size();
  return call;
}

CollectiveCall copyingMomentsCall(ArrayView<const MetricMoments> from, ArrayView<MetricMoments> to,
                                  const CollectiveOptions& options) {
  CollectiveCall call = momentsCall(to, options);
  if (from.size() != to.size()) {
    refuse(call, "got an input of " + std::to_string(from.size()) + " moments; expected the same");
  }
  constexpr std::size_t kBytes = sizeof(MetricMoments);
  if (overlap(from.data(), from.size() * kBytes, to.data(), to.size() * kBytes)) {
    refuse(call, "got an input and an output that overlap; expected separate or equal memory");
  }
  call.input = from.data();
  call.inputCount = from.size();
  return call;
}

CollectiveCall reduceScatterCall(const Elements& from, const Elements& to, ReduceOp op,
                                 const CollectiveOptions& options) {
  CollectiveCall call = callFor(CollectiveKind::kReduceScatter, options);
  call.op = op;
  call.dtype = from.dtype();
  call.input = from.data();
  call.inputCount = from.count();
  call.output = to.data();
  call.count = to.count();
  checkReduction(call);
  if (from.dtype() != to.dtype()) {
    refuse(call, std::string("got an output of ") + dtypeName(to.dtype()) + "; expected the same");
  }
  if (overlap(from, to)) {
    refuse(call, "got an input and an output that overlap; expected separate or equal memory");
  }
  return call;
}

CollectiveCall broadcastCall(void* data, std::size_t bytes, int root,
                             const CollectiveOptions& options) {
  CollectiveCall call = callFor(CollectiveKind::kBroadcast, options);
  call.output = data;
  call.count = bytes;
  call.root = root;
  return call;
}

CollectiveCall allgatherCall(std::string_view bytes, std::vector<std::string>& gathered,
                             const CollectiveOptions& options) {
  CollectiveCall call = callFor(CollectiveKind::kAllgather, options);
  call.input = bytes.data();
  call.inputCount = bytes.size();
  call.fromRank = &gathered;
  return call;
}

CollectiveCall gatherCall(std::string_view bytes, std::vector<std::string>& gathered, int root,
                          const CollectiveOptions& options) {
  CollectiveCall call = allgatherCall(bytes, gathered, options);
  call.kind = CollectiveKind::kGather;
  call.root = root;
  return call;
}

CollectiveCall alltoallCall(const std::vector<std::string>& toRank,
                            std::vector<std::string>& fromRank, int size,
                            const CollectiveOptions& options) {
  CollectiveCall call = callFor(CollectiveKind::kAlltoall, options);
  call.toRank = &toRank;
  call.fromRank = &fromRank;
  if (toRank.size() != static_cast<std::size_t>(size)) {
    refuse(call, "got " + std::to_string(toRank.size()) +
                     " entries; expected one per rank: " + std::to_string(size));
  }
  return call;
}

}  // namespace steptape::detail::ranks
