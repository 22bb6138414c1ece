// SPDX-License-Identifier: Apache-2.0
// Collectives that move bytes without combining them.

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "mpi/collective_stages.h"

namespace steptape::mpi::detail {
namespace {

using steptape::detail::CollectiveKind;

class Barrier final : public CollectiveStages {
 public:
  using CollectiveStages::CollectiveStages;
  bool postNext(Requests& requests) override {
    check(MPI_Ibarrier(group_.data(), requests.next()));
    return false;
  }
};

class Broadcast final : public CollectiveStages {
 public:
  using CollectiveStages::CollectiveStages;
  bool postNext(Requests& requests) override {
    forEachChunk(call_.count, group_.maxCount(), [&](std::size_t offset, int chunk) {
      check(MPI_Ibcast(static_cast<char*>(call_.output) + offset, chunk, MPI_BYTE, call_.root,
                       group_.data(), requests.next()));
    });
    return false;
  }
};

/// The bytes of one round from or to each rank, in consecutive memory.
struct Round {
  std::vector<int> counts;
  std::vector<int> starts;
  std::string bytes;

  void clear() {
    counts.clear();
    starts.clear();
    bytes.clear();
  }
  void add(std::size_t left, std::size_t most) {
    starts.push_back(starts.empty() ? 0 : starts.back() + counts.back());
    counts.push_back(static_cast<int>(std::min(left, most)));
  }
  std::size_t total() const {
    return static_cast<std::size_t>(starts.back()) + static_cast<std::size_t>(counts.back());
  }
  void appendTo(std::vector<std::string>& byRank) const {
    for (std::size_t rank = 0; rank < byRank.size(); ++rank) {
      byRank[rank].append(bytes, static_cast<std::size_t>(starts[rank]),
                          static_cast<std::size_t>(counts[rank]));
    }
  }
};

/// Returns how many of `size` bytes are after the first `offset`.
std::size_t leftOf(std::size_t size, std::size_t offset) {
  return size - std::min(size, offset);
}

/// Sends all sizes and the first bytes in one call, which is sufficient for short texts; then the
/// rest in rounds of at most maxCount bytes.
class Allgather final : public CollectiveStages {
 public:
  using CollectiveStages::CollectiveStages;

  bool postNext(Requests& requests) override {
    if (heads_.empty()) {
      postHeads(requests);
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
    postRound(requests);
    return true;
  }

 private:
  struct Head {
    std::uint64_t size;
    std::array<char, 56> bytes;
  };

  std::size_t bytesPerRank() const { return group_.maxCount() / size(); }

  void postHeads(Requests& requests) {
    heads_.resize(size());
    Head& mine = heads_[rank()];
    mine.size = call_.inputCount;
    if (call_.inputCount > 0) {
      std::memcpy(mine.bytes.data(), call_.input, std::min(call_.inputCount, mine.bytes.size()));
    }
    check(MPI_Iallgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, heads_.data(), sizeof(Head), MPI_BYTE,
                         group_.data(), requests.next()));
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

  void postRound(Requests& requests) {
    round_.clear();
    for (const Head& head : heads_) {
      round_.add(leftOf(head.size, offset_), bytesPerRank());
    }
    round_.bytes.resize(round_.total());
    const int count = round_.counts[rank()];
    const char* from = count > 0 ? static_cast<const char*>(call_.input) + offset_ : nullptr;
    check(MPI_Iallgatherv(from, count, MPI_BYTE, round_.bytes.data(), round_.counts.data(),
                          round_.starts.data(), MPI_BYTE, group_.data(), requests.next()));
  }

  std::vector<Head> heads_;
  std::size_t most_ = 0;    // Maximum bytes of a rank.
  std::size_t offset_ = 0;  // Bytes of each rank that have arrived or are in flight.
  Round round_;
};

class Alltoall final : public CollectiveStages {
 public:
  using CollectiveStages::CollectiveStages;

  bool postNext(Requests& requests) override {
    if (sizesTo_.empty()) {
      postSizes(requests);
      return true;
    }
    if (isFirstRound_) {
      isFirstRound_ = false;
      call_.fromRank->assign(size(), "");
    } else {
      received_.appendTo(*call_.fromRank);
      offset_ += bytesPerRank();
    }
    if (offset_ >= most_) {
      return false;
    }
    postRound(requests);
    return true;
  }

 private:
  std::size_t bytesPerRank() const { return group_.maxCount() / size(); }

  void postSizes(Requests& requests) {
    for (const std::string& bytes : *call_.toRank) {
      sizesTo_.push_back(bytes.size());
    }
    sizesFrom_.resize(size());
    most_ = *std::max_element(sizesTo_.begin(), sizesTo_.end());
    check(MPI_Ialltoall(sizesTo_.data(), 1, MPI_UINT64_T, sizesFrom_.data(), 1, MPI_UINT64_T,
                        group_.data(), requests.next()));
    check(MPI_Iallreduce(MPI_IN_PLACE, &most_, 1, MPI_UINT64_T, MPI_MAX, group_.data(),
                         requests.next()));
  }

  void postRound(Requests& requests) {
    sent_.clear();
    received_.clear();
    for (std::size_t other = 0; other < size(); ++other) {
      sent_.add(leftOf(sizesTo_[other], offset_), bytesPerRank());
      received_.add(leftOf(sizesFrom_[other], offset_), bytesPerRank());
      if (sent_.counts.back() > 0) {
        sent_.bytes.append((*call_.toRank)[other], offset_,
                           static_cast<std::size_t>(sent_.counts.back()));
      }
    }
    received_.bytes.resize(received_.total());
    check(MPI_Ialltoallv(sent_.bytes.data(), sent_.counts.data(), sent_.starts.data(), MPI_BYTE,
                         received_.bytes.data(), received_.counts.data(), received_.starts.data(),
                         MPI_BYTE, group_.data(), requests.next()));
  }

  std::vector<std::uint64_t> sizesTo_;
  std::vector<std::uint64_t> sizesFrom_;
  std::uint64_t most_ = 0;  // Maximum bytes from one rank to another.
  std::size_t offset_ = 0;
  bool isFirstRound_ = true;
  Round sent_;
  Round received_;
};

}  // namespace

std::unique_ptr<CollectiveStages> makeExchange(MpiGroup& group, const CollectiveCall& call) {
  switch (call.kind) {
    case CollectiveKind::kBroadcast:
      return std::make_unique<Broadcast>(group, call);
    case CollectiveKind::kAllgather:
      return std::make_unique<Allgather>(group, call);
    case CollectiveKind::kAlltoall:
    case CollectiveKind::kGather:
      return std::make_unique<Alltoall>(group, call);
    default:
      return std::make_unique<Barrier>(group, call);
  }
}

}  // namespace steptape::mpi::detail
