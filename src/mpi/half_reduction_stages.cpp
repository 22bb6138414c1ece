// SPDX-License-Identifier: Apache-2.0
// Reductions of float16 and bfloat16, for which MPI has no types. Each rank gets one slice of every
// rank's elements, combines them in float32 in the order of the ranks, and rounds once. Elements
// are sent with 16 bits, and the result is bit-identical on every rank and with every MPI.

#include <cstring>

#include "comm/element_reduction.h"
#include "mpi/collective_stages.h"
#include "mpi/part_sizes.h"

namespace steptape::mpi::detail {
namespace {

using steptape::detail::CollectiveKind;
using Half = std::uint16_t;

/// One rank's slice of consecutive elements, gathered from all ranks and combined.
class SliceExchange {
 public:
  /// @param counts Elements of each rank's slice; together at most INT_MAX.
  SliceExchange(std::vector<int> counts, std::size_t rank)
      : counts_(std::move(counts)), rank_(rank), mine_(counts_[rank]) {
    int sent = 0;
    for (std::size_t other = 0; other < counts_.size(); ++other) {
      starts_.push_back(sent);
      sent += counts_[other];
      receivedCounts_.push_back(mine_);
      receivedStarts_.push_back(mine_ * static_cast<int>(other));
    }
    received_.resize(static_cast<std::size_t>(mine_) * counts_.size());
  }

  void post(MpiGroup& group, const CollectiveCall& call, const Half* from, Requests& requests) {
    group.check(MPI_Ialltoallv(from, counts_.data(), starts_.data(), MPI_UINT16_T, received_.data(),
                               receivedCounts_.data(), receivedStarts_.data(), MPI_UINT16_T,
                               group.data(), requests.next()),
                call);
  }

  /// REQUIRES: the exchange has ended.
  void combineInto(const CollectiveCall& call, Half* slice) const {
    std::vector<const void*> parts;
    for (const int start : receivedStarts_) {
      parts.push_back(received_.data() + start);
    }
    steptape::detail::reduceElements(parts, static_cast<std::size_t>(mine_), call.dtype, call.op,
                                     slice);
  }

  /// Sends all slices to all ranks; this rank's slice is already in `all`.
  void postGather(MpiGroup& group, const CollectiveCall& call, Half* all, Requests& requests) {
    group.check(MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, counts_.data(),
                                starts_.data(), MPI_UINT16_T, group.data(), requests.next()),
                call);
  }

  int start() const { return starts_[rank_]; }

 private:
  std::vector<int> counts_;
  std::vector<int> starts_;
  std::vector<int> receivedCounts_;
  std::vector<int> receivedStarts_;
  std::vector<Half> received_;
  std::size_t rank_;
  int mine_;
};

/// Splits `total` elements into slices whose sizes differ by at most 1.
std::vector<int> evenSlices(int total, int ranks) {
  std::vector<int> counts;
  counts.reserve(static_cast<std::size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank) {
    counts.push_back(total / ranks + (rank < total % ranks ? 1 : 0));
  }
  return counts;
}

class HalfAllreduce final : public CollectiveStages {
 public:
  HalfAllreduce(MpiGroup& group, const CollectiveCall& call)
      : HalfAllreduce(group, call, call.input == nullptr ? call.output : call.input, call.count,
                      call.output) {}
  HalfAllreduce(MpiGroup& group, const CollectiveCall& call, const void* from, std::size_t count,
                void* to)
      : CollectiveStages(group, call),
        from_(static_cast<const Half*>(from)),
        to_(static_cast<Half*>(to)),
        count_(count) {}

  bool postNext(Requests& requests) override {
    if (!isExchanged_) {
      isExchanged_ = true;
      forEachChunk(count_, group_.maxCount(), [&](std::size_t offset, int chunk) {
        chunks_.push_back({offset, SliceExchange(evenSlices(chunk, group_.map().size()), rank())});
      });
      for (Chunk& chunk : chunks_) {
        chunk.exchange.post(group_, call_, from_ + chunk.offset, requests);
      }
      return true;
    }
    for (Chunk& chunk : chunks_) {
      Half* const to = to_ + chunk.offset;
      chunk.exchange.combineInto(call_, to + chunk.exchange.start());
      chunk.exchange.postGather(group_, call_, to, requests);
    }
    return false;
  }

 private:
  struct Chunk {
    std::size_t offset;
    SliceExchange exchange;
  };

  const Half* from_;
  Half* to_;
  std::size_t count_;
  bool isExchanged_ = false;
  std::vector<Chunk> chunks_;
};

class HalfReduceScatter final : public CollectiveStages {
 public:
  using CollectiveStages::CollectiveStages;

  bool postNext(Requests& requests) override {
    if (!parts_.arePosted()) {
      parts_.post(group_, call_, requests);
      return true;
    }
    if (whole_) {
      return whole_->postNext(requests);
    }
    parts_.check(call_);
    if (call_.inputCount > group_.maxCount()) {
      // Too many for the `int` counts of one exchange by parts.
      all_.resize(call_.inputCount);
      whole_ = std::make_unique<HalfAllreduce>(group_, call_, call_.input, call_.inputCount,
                                               all_.data());
      return whole_->postNext(requests);
    }
    exchange_ = std::make_unique<SliceExchange>(
        std::vector<int>(parts_.sizes().begin(), parts_.sizes().end()), rank());
    exchange_->post(group_, call_, static_cast<const Half*>(call_.input), requests);
    return false;
  }

  void finish() override {
    if (exchange_) {
      exchange_->combineInto(call_, static_cast<Half*>(call_.output));
    } else if (call_.count > 0) {
      const auto begin = std::accumulate(
          parts_.sizes().begin(), parts_.sizes().begin() + static_cast<std::ptrdiff_t>(rank()),
          std::size_t{0});
      std::memcpy(call_.output, all_.data() + begin, call_.count * sizeof(Half));
    }
  }

 private:
  PartSizes parts_;
  std::unique_ptr<SliceExchange> exchange_;
  std::vector<Half> all_;
  std::unique_ptr<HalfAllreduce> whole_;
};

}  // namespace

std::unique_ptr<CollectiveStages> makeHalfReduction(MpiGroup& group, const CollectiveCall& call) {
  if (call.kind == CollectiveKind::kReduceScatter) {
    return std::make_unique<HalfReduceScatter>(group, call);
  }
  return std::make_unique<HalfAllreduce>(group, call);
}

}  // namespace steptape::mpi::detail
