// SPDX-License-Identifier: Apache-2.0
// Collectives that move bytes without combining them.

#include <algorithm>
#include <array>
#include <cstring>

#include "ranks/engine/collective_stages.h"

namespace steptape::detail::ranks {
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

/// The size of a rank's bytes, and the first ones.
struct Head {
  std::uint64_t size;
  std::array<char, 56> bytes;
};

Head headOf(const CollectiveCall& call) {
  Head head{call.inputCount, {}};
  if (call.inputCount > 0) {
    std::memcpy(head.bytes.data(), call.input, std::min(call.inputCount, head.bytes.size()));
  }
  return head;
}

std::string textOf(const Head& head) {
  return {head.bytes.data(), std::min<std::size_t>(head.size, head.bytes.size())};
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
  std::size_t bytesPerRank() const { return maxCount() / size(); }

  void postHeads(Transfers& transfers) {
    heads_.resize(size());
    heads_[rank()] = headOf(call_);
    transfers.add(transport_.allgather(heads_.data(), sizeof(Head)));
  }

  void takeHeads() {
    call_.fromRank->clear();
    for (const Head& head : heads_) {
      call_.fromRank->push_back(textOf(head));
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

/// Sends sizes and first bytes to the root, which tells the largest size. The rest follows in
/// rounds of at most maxCount bytes. The root alone holds memory that grows with the ranks.
class Gather final : public CollectiveStages {
 public:
  using CollectiveStages::CollectiveStages;

  bool postNext(Transfers& transfers) override {
    switch (step_) {
      case Step::kHeads:
        postHeads(transfers);
        step_ = Step::kMost;
        return true;
      case Step::kMost:
        takeHeads();
        transfers.add(transport_.broadcast(&most_, sizeof most_, call_.root));
        step_ = Step::kRounds;
        return true;
      case Step::kRounds:
        break;
    }
    if (isRoot() && offset_ > firstBytes()) {
      round_.appendTo(*call_.fromRank);
    }
    if (offset_ >= most_) {
      return false;
    }
    postRound(transfers);
    offset_ += bytesPerRank();
    return true;
  }

 private:
  enum class Step : std::uint8_t { kHeads, kMost, kRounds };

  static std::size_t firstBytes() { return decltype(Head::bytes)().size(); }
  bool isRoot() const { return transport_.map().rank() == call_.root; }
  std::size_t bytesPerRank() const { return maxCount() / size(); }

  void postHeads(Transfers& transfers) {
    mine_ = headOf(call_);
    if (isRoot()) {
      heads_.resize(size());
      for (std::size_t other = 0; other < size(); ++other) {
        round_.parts.add(sizeof(Head));
      }
    }
    transfers.add(
        transport_.gatherv(&mine_, sizeof mine_, call_.root, heads_.data(), round_.parts));
  }

  void takeHeads() {
    call_.fromRank->clear();
    for (const Head& head : heads_) {
      call_.fromRank->push_back(textOf(head));
      most_ = std::max(most_, head.size);
    }
    offset_ = firstBytes();
  }

  void postRound(Transfers& transfers) {
    round_.clear();
    for (const Head& head : heads_) {
      round_.parts.add(std::min(leftOf(head.size, offset_), bytesPerRank()));
    }
    round_.bytes.resize(isRoot() ? round_.parts.total() : 0);
    const std::size_t bytes = std::min(leftOf(call_.inputCount, offset_), bytesPerRank());
    const auto* const from = static_cast<const char*>(call_.input);
    transfers.add(transport_.gatherv(bytes == 0 ? from : from + offset_, bytes, call_.root,
                                     round_.bytes.data(), round_.parts));
  }

  Step step_ = Step::kHeads;
  Head mine_{};
  std::vector<Head> heads_;  // by rank, on the root
  std::uint64_t most_ = 0;   // Maximum bytes of a rank.
  std::size_t offset_ = 0;   // Bytes of each rank that have arrived or are in flight.
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
    case CollectiveKind::kGather:
      return std::make_unique<Gather>(transport, call);
    case CollectiveKind::kAlltoall:
      return std::make_unique<Alltoall>(transport, call);
    default:
      return std::make_unique<Barrier>(transport, call);
  }
}

}  // namespace steptape::detail::ranks
