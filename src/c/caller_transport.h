// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "steptape/c/steptape.h"

#include "ranks/engine/engine_communicator.h"
#include "ranks/engine/transport.h"

namespace steptape::detail::c {

/// A caller's communicator, whose context is released with this object.
class CallerRanks {
 public:
  /// @param calls REQUIRES: start_gather and test are set
  explicit CallerRanks(const steptape_communicator& calls) : calls_(calls) {}
  ~CallerRanks() {
    if (calls_.release != nullptr) {
      calls_.release(calls_.context);
    }
  }
  CallerRanks(const CallerRanks&) = delete;
  CallerRanks& operator=(const CallerRanks&) = delete;

  int rank() const { return calls_.rank; }
  std::size_t ranks() const { return static_cast<std::size_t>(calls_.ranks); }
  bool isUsable() const { return calls_.is_usable == nullptr || calls_.is_usable(calls_.context); }

  /// @throws ranks::TransportFailure
  void* startGather(int lane, void* all, std::size_t bytes) const;
  /// @throws ranks::TransportFailure
  bool hasEnded(void* operation) const;

 private:
  const steptape_communicator calls_;
};

/// Moves data between ranks by gathering it from all of them, which is all that a caller must
/// offer. The messages of metrics are small; a broadcast to P ranks moves P times its bytes.
///
/// The operations of a lane run one after the other: some gather twice, and ranks must begin these
/// parts in one order.
class CallerTransport final : public ranks::Transport {
 public:
  CallerTransport(std::shared_ptr<const CallerRanks> ranks, ranks::GroupMap map);
  ~CallerTransport() override;

  ranks::Transfer compare(ranks::ComparedMessage& message) override;
  ranks::Transfer gatherReports(char* all, std::size_t bytesPerRank) override;
  ranks::Transfer barrier() override;
  ranks::Transfer broadcast(void* data, std::size_t bytes, int root) override;
  ranks::Transfer allgather(void* all, std::size_t bytesPerRank) override;
  ranks::Transfer allgatherv(void* all, const ranks::RankParts& parts) override;
  ranks::Transfer gatherv(const void* mine, std::size_t bytes, int root, void* all,
                          const ranks::RankParts& parts) override;
  ranks::Transfer alltoallv(const void* from, const ranks::RankParts& sent, void* to,
                            const ranks::RankParts& received) override;
  bool canReduce(const ranks::CollectiveCall& call) const override;
  ranks::Transfer allreduce(const ranks::CollectiveCall& call, std::size_t offset,
                            std::size_t count) override;
  ranks::Transfer reduceScatter(const ranks::CollectiveCall& call,
                                const std::vector<int>& counts) override;
  bool hasEnded(ranks::Transfer& transfer) override;
  void postNote(const ranks::StallNote& note) override;
  bool takeNote(int& rank, ranks::StallNote& note) override;
  bool enter() override { return ranks_->isUsable(); }
  std::string endedBecause() const override { return "MPI was finalized"; }

 private:
  enum Lane { kData, kComparisons, kReports };

  /// Gathers `bytes` bytes of each rank, then goes on with what `then` prepares.
  struct Operation {
    Lane lane = kData;
    void* all = nullptr;  ///< Null: `buffer`.
    std::size_t bytes = 0;
    std::string buffer;
    std::string mine;  ///< What this rank sends in a second part.
    /// @return whether that was the last part.
    std::function<bool(Operation*)> then;
    void* handle = nullptr;  ///< Null: not yet begun.
    bool isDone = false;
  };

  /// Returns an operation that gathers in its own buffer, where this rank's bytes are already.
  Operation gathering(const void* mine, std::size_t bytes) const;
  ranks::Transfer add(Operation operation);
  /// Advances the first operation of a lane.
  void advance(Lane lane);
  /// Gathers this rank's bytes, of any number, and hands all to `use`, with how many of each.
  ranks::Transfer gatherAny(
      std::string mine,
      std::function<void(const char* all, std::size_t stride, const std::uint64_t* sizes)> use);

  const std::shared_ptr<const CallerRanks> ranks_;
  std::array<std::deque<Operation*>, 3> lanes_;    ///< Of `known_`.
  std::vector<std::unique_ptr<Operation>> known_;  ///< Of transfers that have not ended.
};

/// The communicator of a job whose ranks reach each other by functions of the caller.
class CallerCommunicator final : public ranks::EngineCommunicator {
 public:
  /// Tells all ranks on which nodes they are, and checks that they have one version of the library.
  /// Collective.
  ///
  /// @throws Error(kRankMismatch), Error(kDeadlineExceeded), ranks::TransportFailure
  explicit CallerCommunicator(const std::shared_ptr<const CallerRanks>& job);

  /// @throws Error(kFailedPrecondition): metrics need no groups.
  std::shared_ptr<Communicator> split(int color, int key) override;
  std::shared_ptr<NodeMemory> allocateNodeMemory(std::size_t bytes, std::string* why) override;
};

}  // namespace steptape::detail::c
