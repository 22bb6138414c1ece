// SPDX-License-Identifier: Apache-2.0
// The collectives of Communicator: arguments are checked and become a CollectiveCall, which start()
// carries out.

#include <cstdint>
#include <cstring>
#include <utility>

#include "steptape/base/error.h"
#include "steptape/distributed/communicator.h"

#include "distributed/collective_call.h"
#include "distributed/group_messages.h"
#include "distributed/grouped_elements.h"

namespace steptape {

using detail::CollectiveCall;
using detail::CollectiveKind;
using detail::PendingCollective;

namespace {

CollectiveCall callFor(CollectiveKind kind, const CollectiveOptions& options) {
  CollectiveCall call;
  call.kind = kind;
  call.name = options.name;
  call.compareRanks = options.compareRanks;
  return call;
}

[[noreturn]] void refuse(const CollectiveCall& call, const std::string& why) {
  throw Error(ErrorCode::kInvalidArgument, call.describe() + ": " + why);
}

bool isFloatingPoint(DType dtype) {
  return dtype == DType::kFloat16 || dtype == DType::kBFloat16 || dtype == DType::kFloat32 ||
         dtype == DType::kFloat64;
}

void checkReduction(const CollectiveCall& call) {
  if (call.op == ReduceOp::kAverage && !isFloatingPoint(call.dtype)) {
    refuse(call,
           std::string("an average needs floating-point numbers, got ") + dtypeName(call.dtype));
  }
  if ((call.output == nullptr && call.count > 0) ||
      (call.input == nullptr && call.inputCount > 0)) {
    refuse(call, "the data is null");
  }
}

bool overlap(const Elements& a, const Elements& b) {
  const auto begin = [](const Elements& elements) {
    return reinterpret_cast<std::uintptr_t>(elements.data());
  };
  return begin(a) < begin(b) + b.bytes() && begin(b) < begin(a) + a.bytes();
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
    refuse(call, "the input is " + std::to_string(from.count()) + " " + dtypeName(from.dtype()) +
                     ", want the same");
  }
  if (from.data() == to.data()) {
    return call;
  }
  if (overlap(from, to)) {
    refuse(call, "input and output overlap");
  }
  call.input = from.data();
  call.inputCount = from.count();
  checkReduction(call);
  return call;
}

CollectiveCall momentsCall(Span<MetricMoments> data, const CollectiveOptions& options) {
  CollectiveCall call = callFor(CollectiveKind::kAllreduceMoments, options);
  call.output = data.data();
  call.count = data.size();
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
    refuse(call, std::string("the output is of ") + dtypeName(to.dtype()) + ", want the same");
  }
  if (overlap(from, to)) {
    refuse(call, "input and output overlap");
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

CollectiveCall alltoallCall(const std::vector<std::string>& toRank,
                            std::vector<std::string>& fromRank, int size,
                            const CollectiveOptions& options) {
  CollectiveCall call = callFor(CollectiveKind::kAlltoall, options);
  call.toRank = &toRank;
  call.fromRank = &fromRank;
  if (toRank.size() != static_cast<std::size_t>(size)) {
    refuse(call, "got " + std::to_string(toRank.size()) +
                     " entries, want one per rank: " + std::to_string(size));
  }
  return call;
}

/// What a collective is in a group of one rank.
void runAlone(const CollectiveCall& call) {
  if (call.hasElements()) {
    if (call.kind == CollectiveKind::kReduceScatter && call.inputCount != call.count) {
      throw Error(ErrorCode::kInvalidArgument, detail::partsMismatchText(call, call.count));
    }
    if (call.input != nullptr && call.count > 0) {
      std::memcpy(call.output, call.input, call.count * dtypeSize(call.dtype));
    }
  } else if (call.kind == CollectiveKind::kAllgather) {
    call.fromRank->assign(1, std::string(static_cast<const char*>(call.input), call.inputCount));
  } else if (call.fromRank != nullptr) {
    *call.fromRank = *call.toRank;
  }
}

}  // namespace

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

void Communicator::checkRoot(const char* operation, int root) const {
  if (root < 0 || root >= size()) {
    throw Error(ErrorCode::kInvalidArgument,
                std::string(operation) + ": root " + std::to_string(root) +
                    " is not a rank: want 0 to " + std::to_string(size() - 1));
  }
}

void Communicator::allreduce(Elements data, ReduceOp op, const CollectiveOptions& options) {
  run(allreduceCall(data, op, options));
}

CollectiveHandle Communicator::allreduceAsync(Elements data, ReduceOp op,
                                              const CollectiveOptions& options) {
  return post(allreduceCall(data, op, options));
}

void Communicator::allreduce(Elements from, Elements to, ReduceOp op,
                             const CollectiveOptions& options) {
  run(copyingAllreduceCall(from, to, op, options));
}

std::unique_ptr<PendingCollective> Communicator::beginGrouped(const std::vector<Elements>& group,
                                                              ReduceOp op,
                                                              const CollectiveOptions& options) {
  const auto packed = std::make_shared<detail::GroupedElements>(group);
  CollectiveCall call = allreduceCall(packed->all(), op, options);
  call.owner = packed;
  std::unique_ptr<PendingCollective> pending = begin(call);
  if (!pending) {
    return nullptr;
  }
  auto grouped = std::make_unique<detail::GroupedCollective>(std::move(pending), packed);
  grouped->reportDroppedErrorsTo(droppedError_);
  return grouped;
}

void Communicator::allreduceGrouped(const std::vector<Elements>& group, ReduceOp op,
                                    const CollectiveOptions& options) {
  if (const std::unique_ptr<PendingCollective> pending = beginGrouped(group, op, options)) {
    pending->wait();
  }
}

CollectiveHandle Communicator::allreduceGroupedAsync(const std::vector<Elements>& group,
                                                     ReduceOp op,
                                                     const CollectiveOptions& options) {
  return CollectiveHandle(beginGrouped(group, op, options));
}

void Communicator::allreduce(Span<MetricMoments> data, const CollectiveOptions& options) {
  run(momentsCall(data, options));
}

CollectiveHandle Communicator::allreduceAsync(Span<MetricMoments> data,
                                              const CollectiveOptions& options) {
  return post(momentsCall(data, options));
}

void Communicator::reduceScatter(Elements from, Elements to, ReduceOp op,
                                 const CollectiveOptions& options) {
  run(reduceScatterCall(from, to, op, options));
}

CollectiveHandle Communicator::reduceScatterAsync(Elements from, Elements to, ReduceOp op,
                                                  const CollectiveOptions& options) {
  return post(reduceScatterCall(from, to, op, options));
}

void Communicator::broadcast(void* data, std::size_t bytes, int root,
                             const CollectiveOptions& options) {
  checkRoot("broadcast", root);
  run(broadcastCall(data, bytes, root, options));
}

CollectiveHandle Communicator::broadcastAsync(void* data, std::size_t bytes, int root,
                                              const CollectiveOptions& options) {
  checkRoot("broadcast", root);
  return post(broadcastCall(data, bytes, root, options));
}

std::string Communicator::broadcastObject(std::string_view bytes, int root,
                                          const CollectiveOptions& options) {
  checkRoot("broadcastObject", root);
  std::uint64_t size = bytes.size();
  run(broadcastCall(&size, sizeof size, root, options));
  std::string object = rank() == root ? std::string(bytes) : std::string(size, '\0');
  // All ranks have the root's size now, and have just been seen in the same operation.
  CollectiveOptions compared = options;
  compared.compareRanks = false;
  run(broadcastCall(object.data(), object.size(), root, compared));
  return object;
}

std::vector<std::string> Communicator::allgather(std::string_view bytes,
                                                 const CollectiveOptions& options) {
  std::vector<std::string> gathered;
  run(allgatherCall(bytes, gathered, options));
  return gathered;
}

CollectiveHandle Communicator::allgatherAsync(std::string_view bytes,
                                              std::vector<std::string>& gathered,
                                              const CollectiveOptions& options) {
  return post(allgatherCall(bytes, gathered, options));
}

std::vector<std::string> Communicator::gatherObject(std::string_view bytes, int root,
                                                    const CollectiveOptions& options) {
  checkRoot("gatherObject", root);
  std::vector<std::string> toRank(static_cast<std::size_t>(size()));
  toRank[static_cast<std::size_t>(root)] = bytes;
  std::vector<std::string> gathered;
  CollectiveCall call = alltoallCall(toRank, gathered, size(), options);
  call.kind = CollectiveKind::kGather;
  call.root = root;
  run(call);
  if (rank() != root) {
    gathered.clear();
  }
  return gathered;
}

std::vector<std::string> Communicator::alltoall(const std::vector<std::string>& toRank,
                                                const CollectiveOptions& options) {
  std::vector<std::string> fromRank;
  run(alltoallCall(toRank, fromRank, size(), options));
  return fromRank;
}

CollectiveHandle Communicator::alltoallAsync(const std::vector<std::string>& toRank,
                                             std::vector<std::string>& fromRank,
                                             const CollectiveOptions& options) {
  return post(alltoallCall(toRank, fromRank, size(), options));
}

void Communicator::barrier(const CollectiveOptions& options) {
  run(callFor(CollectiveKind::kBarrier, options));
}

}  // namespace steptape
