// SPDX-License-Identifier: Apache-2.0
// Collectives that move bytes without combining them.

#include <algorithm>
#include <array>
#include <cstring>

#include "transport/collective_stages.h"

namespace steptape::detail {
namespace {

class Barrier final : public CollectiveStages {
 public:
  using CollectiveStages::CollectiveStages;
  bool postNext(Transfers& transfers) override {
    transfers.add(transport_.barrier());
    return false;
  }
};

class Broadcast final : public CollectiveStages {
 public:
  using CollectiveStages::CollectiveStages;
  bool postNext(Transfers& transfers) override {
    forEachChunk(call_.count, maxCount(), [&](std::size_t offset, int chunk) {
      transfers.add(transport_.broadcast(static_cast<char*>(call_.output) + offset,
                                         static_cast<std::size_t>(chunk), call_.root));
    });
    return false;
  }
};

/// The bytes of one round from or to each rank, in consecutive memory.
struct Round {
  RankParts parts;
  std::string bytes;

  void clear() {
    parts.clear();
    bytes.clear();
  }
  void appendTo(std::vector<std::string>& byRank) const {
    for (std::size_t rank = 0; rank < byRank.size(); ++rank) {
      byRank[rank].append(bytes, static_cast<std::size_t>(parts.starts[rank]),
                          static_cast<std::size_t>(parts.counts[rank]));
    }
  }
};

/// Returns how many of `size` bytes are after the first `offset`.
std::size_t leftOf(std::size_t size, std::size_t offset) {
  return size - std::min(size, offset);
}

/// Sends all sizes and the first bytes in one operation, which is sufficient for short texts; then
/// the rest in rounds of at most maxCount bytes.
class Allgather final : public CollectiveStages {
 public:
  using CollectiveStages::CollectiveStages;

  bool postNext(Transfers& transfers) override {
    if (heads_.empty()) {
      postHeads(transfers);
      return true;
    }
    if (offset_ == 0) {
      takeHeads();
    } else {
      round_.appendTo(*call_.fromRank);
      offset_ += bytesPerRank();
    }
    if (offset_ >= most_) {
      return false;
    }
    postRound(transfers);
    return true;
  }

 private:
  struct Head {
    std::uint64_t size;
    std::array<char, 56> bytes;
  };

  std::size_t bytesPerRank() const { return maxCount() / size(); }

  void postHeads(Transfers& transfers) {
    heads_.resize(size());
    Head& mine = heads_[rank()];
    mine.size = call_.inputCount;
    if (call_.inputCount > 0) {
      std::memcpy(mine.bytes.data(), call_.input, std::min(call_.inputCount, mine.bytes.size()));
    }
    transfers.add(transport_.allgather(heads_.data(), sizeof(Head)));
  }

  void takeHeads() {
    call_.fromRank->clear();
    for (const Head& head : heads_) {
      const std::size_t bytes = std::min<std::size_t>(head.size, head.bytes.size());
      call_.fromRank->emplace_back(head.bytes.data(), bytes);
      most_ = std::max<std::size_t>(most_, head.size);
    }
    offset_ = heads_.front().bytes.size();
  }

  void postRound(Transfers& transfers) {
    round_.clear();
    for (const Head& head : heads_) {
      round_.parts.add(std::min(leftOf(head.size, offset_), bytesPerRank()));
    }
    round_.bytes.resize(round_.parts.total());
    const auto mine = static_cast<std::size_t>(round_.parts.counts[rank()]);
    if (mine > 0) {
      std::memcpy(round_.bytes.data() + round_.parts.starts[rank()],
                  static_cast<const char*>(call_.input) + offset_, mine);
    }
    transfers.add(transport_.allgatherv(round_.bytes.data(), round_.parts));
  }

  std::vector<Head> heads_;
  std::size_t most_ = 0;    // Maximum bytes of a rank.
  std::size_t offset_ = 0;  // Bytes of each rank that have arrived or are in flight.
  Round round_;
};

class Alltoall final : public CollectiveStages {
 public:
  using CollectiveStages::CollectiveStages;

  bool postNext(Transfers& transfers) override {
    if (sizesTo_.empty()) {
      postSizes(transfers);
      return true;
    }
    if (isFirstRound_) {
      isFirstRound_ = false;
      call_.fromRank->assign(size(), "");
    } else {
      received_.appendTo(*call_.fromRank);
      offset_ += bytesPerRank();
    }
    if (offset_ >= *std::max_element(most_.begin(), most_.end())) {
      return false;
    }
    postRound(transfers);
    return true;
  }

 private:
  std::size_t bytesPerRank() const { return maxCount() / size(); }

  void postSizes(Transfers& transfers) {
    for (const std::string& bytes : *call_.toRank) {
      sizesTo_.push_back(bytes.size());
    }
    sizesFrom_.resize(size());
    for (std::size_t other = 0; other < size(); ++other) {
      sizeParts_.add(sizeof(std::uint64_t));
    }
    transfers.add(transport_.alltoallv(sizesTo_.data(), sizeParts_, sizesFrom_.data(), sizeParts_));
    most_.assign(size(), 0);
    most_[rank()] = *std::max_element(sizesTo_.begin(), sizesTo_.end());
    transfers.add(transport_.allgather(most_.data(), sizeof(std::uint64_t)));
  }

  void postRound(Transfers& transfers) {
    sent_.clear();
    received_.clear();
    for (std::size_t other = 0; other < size(); ++other) {
      sent_.parts.add(std::min(leftOf(sizesTo_[other], offset_), bytesPerRank()));
      received_.parts.add(std::min(leftOf(sizesFrom_[other], offset_), bytesPerRank()));
      if (sent_.parts.counts.back() > 0) {
        sent_.bytes.append((*call_.toRank)[other], offset_,
                           static_cast<std::size_t>(sent_.parts.counts.back()));
      }
    }
    received_.bytes.resize(received_.parts.total());
    transfers.add(transport_.alltoallv(sent_.bytes.data(), sent_.parts, received_.bytes.data(),
                                       received_.parts));
  }

  std::vector<std::uint64_t> sizesTo_;
  std::vector<std::uint64_t> sizesFrom_;
  RankParts sizeParts_;
  std::vector<std::uint64_t> most_;  // By rank: maximum bytes that it sends to another.
  std::size_t offset_ = 0;
  bool isFirstRound_ = true;
  Round sent_;
  Round received_;
};

}  // namespace

std::unique_ptr<CollectiveStages> makeExchange(Transport& transport, const CollectiveCall& call) {
  switch (call.kind) {
    case CollectiveKind::kBroadcast:
      return std::make_unique<Broadcast>(transport, call);
    case CollectiveKind::kAllgather:
      return std::make_unique<Allgather>(transport, call);
    case CollectiveKind::kAlltoall:
    case CollectiveKind::kGather:
      return std::make_unique<Alltoall>(transport, call);
    default:
      return std::make_unique<Barrier>(transport, call);
  }
}

}  // namespace steptape::detail
