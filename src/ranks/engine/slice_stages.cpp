// SPDX-License-Identifier: Apache-2.0
// Reductions that the transport cannot execute, such as those of float16 and bfloat16. Each rank
// gets one slice of every rank's elements and combines them in the order of the ranks; float16 and
// bfloat16 in float32, rounded once. Elements are sent as they are, and the result is bit-identical
// on every rank and with every transport.

#include <algorithm>
#include <cstring>
#include <utility>

#include "ranks/engine/collective_stages.h"
#include "ranks/engine/combined_parts.h"
#include "ranks/engine/part_sizes.h"

namespace steptape::detail::ranks {
namespace {

/// One rank's slice of elements, gathered from all ranks and combined.
class SliceExchange {
 public:
  /// @param counts Elements of each rank's slice.
  SliceExchange(const CollectiveCall& call, const std::vector<std::size_t>& counts,
                std::size_t rank)
      : rank_(rank), mine_(counts[rank]) {
    const std::size_t bytes = elementBytes(call);
    for (const std::size_t count : counts) {
      sent_.add(count * bytes);
      received_.add(mine_ * bytes);
    }
    fromRanks_.resize(received_.total());
  }

  /// @param from The slices of all ranks, in consecutive memory.
  void post(Transport& transport, const void* from, Transfers& transfers) {
    transfers.add(transport.alltoallv(from, sent_, fromRanks_.data(), received_));
  }

  /// Writes this rank's slice of the result. REQUIRES: the exchange has ended.
  void combineInto(const CollectiveCall& call, void* slice) const {
    std::vector<const void*> parts;
    parts.reserve(received_.starts.size());
    for (const int start : received_.starts) {
      parts.push_back(fromRanks_.data() + start);
    }
    combineParts(call, call.op, parts, mine_, slice);
  }

  /// Sends all slices to all ranks; this rank's slice is already in `all`.
  void postGather(Transport& transport, void* all, Transfers& transfers) {
    transfers.add(transport.allgatherv(all, sent_));
  }

  /// Returns where this rank's slice begins, in bytes.
  int start() const { return sent_.starts[rank_]; }

 private:
  RankParts sent_;
  RankParts received_;
  std::vector<std::byte> fromRanks_;
  std::size_t rank_;
  std::size_t mine_;
};

/// Splits `total` elements into slices whose sizes differ by at most 1.
std::vector<std::size_t> evenSlices(std::size_t total, std::size_t ranks) {
  std::vector<std::size_t> counts;
  counts.reserve(ranks);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    counts.push_back(total / ranks + (rank < total % ranks ? 1 : 0));
  }
  return counts;
}

/// Returns how many elements one operation moves: their bytes must fit maxCount().
std::size_t elementsAtOnce(const CollectiveCall& call, std::size_t maxCount) {
  return std::max<std::size_t>(maxCount / elementBytes(call), 1);
}

class SliceAllreduce final : public CollectiveStages {
 public:
  using CollectiveStages::CollectiveStages;

  bool postNext(Transfers& transfers) override {
    const std::size_t bytes = elementBytes(call_);
    if (!isExchanged_) {
      isExchanged_ = true;
      const auto* const from = static_cast<const std::byte*>(inputOf(call_));
      forEachChunk(call_.count, elementsAtOnce(call_, maxCount()),
                   [&](std::size_t offset, int chunk) {
                     const auto slices = evenSlices(static_cast<std::size_t>(chunk), size());
                     chunks_.push_back({offset * bytes, SliceExchange(call_, slices, rank())});
                   });
      for (Chunk& chunk : chunks_) {
        chunk.exchange.post(transport_, from + chunk.offset, transfers);
      }
      return true;
    }
    for (Chunk& chunk : chunks_) {
      auto* const to = static_cast<std::byte*>(call_.output) + chunk.offset;
      chunk.exchange.combineInto(call_, to + chunk.exchange.start());
      chunk.exchange.postGather(transport_, to, transfers);
    }
    return false;
  }

 private:
  struct Chunk {
    std::size_t offset;  // in bytes
    SliceExchange exchange;
  };

  bool isExchanged_ = false;
  std::vector<Chunk> chunks_;
};

/// Exchanges the parts in rounds, each of as many elements as one operation moves.
class SliceReduceScatter final : public CollectiveStages {
 public:
  using CollectiveStages::CollectiveStages;

  bool postNext(Transfers& transfers) override {
    if (!parts_.arePosted()) {
      parts_.post(transport_, call_, transfers);
      return true;
    }
    if (!exchange_) {
      parts_.check(call_);
      most_ = *std::max_element(parts_.sizes().begin(), parts_.sizes().end());
    } else {
      finishRound();
    }
    if (offset_ >= most_) {
      return false;
    }
    postRound(transfers);
    return true;
  }

 private:
  std::size_t elementsPerRank() const {
    return std::max<std::size_t>(elementsAtOnce(call_, maxCount()) / size(), 1);
  }

  void postRound(Transfers& transfers) {
    const std::size_t bytes = elementBytes(call_);
    const auto* part = static_cast<const char*>(call_.input);
    std::vector<std::size_t> counts;
    sent_.clear();
    for (const std::uint64_t partSize : parts_.sizes()) {
      const std::size_t left = partSize - std::min<std::size_t>(partSize, offset_);
      counts.push_back(std::min(left, elementsPerRank()));
      if (counts.back() > 0) {
        sent_.append(part + offset_ * bytes, counts.back() * bytes);
      }
      part += partSize * bytes;
    }
    exchange_ = std::make_unique<SliceExchange>(call_, counts, rank());
    exchange_->post(transport_, sent_.data(), transfers);
  }

  void finishRound() {
    if (offset_ < call_.count) {
      exchange_->combineInto(call_,
                             static_cast<std::byte*>(call_.output) + offset_ * elementBytes(call_));
    }
    offset_ += elementsPerRank();
  }

  PartSizes parts_;
  std::size_t most_ = 0;    // Maximum elements of a part.
  std::size_t offset_ = 0;  // Elements of each part that have arrived or are in flight.
  std::string sent_;
  std::unique_ptr<SliceExchange> exchange_;
};

}  // namespace

std::unique_ptr<CollectiveStages> makeSliceReduction(Transport& transport,
                                                     const CollectiveCall& call) {
  if (call.kind == CollectiveKind::kReduceScatter) {
    return std::make_unique<SliceReduceScatter>(transport, call);
  }
  return std::make_unique<SliceAllreduce>(transport, call);
}

}  // namespace steptape::detail::ranks
