// SPDX-License-Identifier: Apache-2.0
// Reductions that MPI can execute: all but those of float16 and bfloat16.

#include <numeric>

#include "steptape/base/error.h"

#include "comm/element_reduction.h"
#include "comm/group_messages.h"
#include "mpi/collective_stages.h"
#include "mpi/part_sizes.h"

namespace steptape::mpi::detail {
namespace {

using steptape::detail::CollectiveKind;

MPI_Datatype mpiType(DType dtype) {
  switch (dtype) {
    case DType::kBool:
      return MPI_C_BOOL;
    case DType::kUInt8:
      return MPI_UINT8_T;
    case DType::kInt8:
      return MPI_INT8_T;
    case DType::kUInt16:
      return MPI_UINT16_T;
    case DType::kInt16:
      return MPI_INT16_T;
    case DType::kUInt32:
      return MPI_UINT32_T;
    case DType::kInt32:
      return MPI_INT32_T;
    case DType::kUInt64:
      return MPI_UINT64_T;
    case DType::kInt64:
      return MPI_INT64_T;
    case DType::kFloat32:
      return MPI_FLOAT;
    case DType::kFloat64:
      return MPI_DOUBLE;
    case DType::kFloat16:
    case DType::kBFloat16:
      break;  // no MPI type: see half_reduction_stages.cpp
  }
  return MPI_DATATYPE_NULL;
}

MPI_Op mpiOp(ReduceOp op, DType dtype) {
  const bool isBool = dtype == DType::kBool;
  switch (op) {
    case ReduceOp::kMin:
      return isBool ? MPI_LAND : MPI_MIN;
    case ReduceOp::kMax:
      return isBool ? MPI_LOR : MPI_MAX;
    case ReduceOp::kProduct:
      return isBool ? MPI_LAND : MPI_PROD;
    case ReduceOp::kSum:
    case ReduceOp::kAverage:
      break;
  }
  return isBool ? MPI_LOR : MPI_SUM;
}

/// Describes the elements to an MPI reduction.
struct ElementType {
  MPI_Datatype type;
  MPI_Op op;
  std::size_t bytes;

  static ElementType of(const MpiGroup& group, const CollectiveCall& call) {
    if (call.kind == CollectiveKind::kAllreduceMoments) {
      return {group.momentsType(), group.momentsOp(), sizeof(MetricMoments)};
    }
    return {mpiType(call.dtype), mpiOp(call.op, call.dtype), dtypeSize(call.dtype)};
  }
};

class Allreduce final : public CollectiveStages {
 public:
  using CollectiveStages::CollectiveStages;

  bool postNext(Requests& requests) override {
    const ElementType element = ElementType::of(group_, call_);
    forEachChunk(call_.count, group_.maxCount(), [&](std::size_t offset, int chunk) {
      const std::size_t at = offset * element.bytes;
      const void* from =
          call_.input == nullptr ? MPI_IN_PLACE : static_cast<const char*>(call_.input) + at;
      check(MPI_Iallreduce(from, static_cast<char*>(call_.output) + at, chunk, element.type,
                           element.op, group_.data(), requests.next()));
    });
    return false;
  }

  void finish() override {
    if (call_.op == ReduceOp::kAverage) {
      steptape::detail::divideElements(call_.output, call_.count, call_.dtype, group_.map().size());
    }
  }
};

class ReduceScatter final : public CollectiveStages {
 public:
  using CollectiveStages::CollectiveStages;

  bool postNext(Requests& requests) override {
    if (!parts_.arePosted()) {
      parts_.post(group_, call_, requests);
      return true;
    }
    parts_.check(call_);
    const ElementType element = ElementType::of(group_, call_);
    if (call_.inputCount <= group_.maxCount()) {
      counts_.assign(parts_.sizes().begin(), parts_.sizes().end());
      check(MPI_Ireduce_scatter(call_.input, call_.output, counts_.data(), element.type, element.op,
                                group_.data(), requests.next()));
    } else {
      postPartByPart(element, requests);
    }
    return false;
  }

  void finish() override {
    if (call_.op == ReduceOp::kAverage) {
      steptape::detail::divideElements(call_.output, call_.count, call_.dtype, group_.map().size());
    }
  }

 private:
  /// For more elements than the `int` counts of one MPI call support.
  void postPartByPart(const ElementType& element, Requests& requests) {
    const char* part = static_cast<const char*>(call_.input);
    for (std::size_t root = 0; root < size(); ++root) {
      forEachChunk(parts_.sizes()[root], group_.maxCount(), [&](std::size_t offset, int chunk) {
        const std::size_t at = offset * element.bytes;
        void* to = root == rank() ? static_cast<char*>(call_.output) + at : nullptr;
        check(MPI_Ireduce(part + at, to, chunk, element.type, element.op, static_cast<int>(root),
                          group_.data(), requests.next()));
      });
      part += parts_.sizes()[root] * element.bytes;
    }
  }

  PartSizes parts_;
  std::vector<int> counts_;  // MPI reads them until the call has ended
};

}  // namespace

std::unique_ptr<CollectiveStages> makeReduction(MpiGroup& group, const CollectiveCall& call) {
  if (call.kind == CollectiveKind::kReduceScatter) {
    return std::make_unique<ReduceScatter>(group, call);
  }
  return std::make_unique<Allreduce>(group, call);
}

}  // namespace steptape::mpi::detail
