// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ranks/c10d/key_store.h"
#include "ranks/engine/operation_lanes.h"
#include "ranks/engine/transport.h"

namespace steptape::c10d::detail {

/// Moves data through a key-value store: slow, but it needs nothing else. For the few messages by
/// which the ranks of a group agree on a faster way.
///
/// In each operation, every rank stores its bytes under a key of its own. Rank 0 reads them all,
/// combines them, and stores the answer, which the others read. So the store is asked a few times
/// for each rank, and not for each pair of ranks:
///
///     <lane>/<operation>/<rank>     the bytes of a rank, which it removes when it has the answer
///     <lane>/<operation>/answer     "+" and the combined bytes; or "-", and why there are none
///
/// Rank 0 removes an answer when all ranks have come to the next operation of the lane.
class StoreTransport final : public steptape::detail::ranks::Transport {
 public:
  StoreTransport(std::shared_ptr<KeyStore> store, steptape::detail::ranks::GroupMap map);

  steptape::detail::ranks::Transfer compare(
      steptape::detail::ranks::ComparedMessage& message) override;
  steptape::detail::ranks::Transfer gatherReports(char* all, std::size_t bytesPerRank) override;
  steptape::detail::ranks::Transfer barrier() override;
  steptape::detail::ranks::Transfer broadcast(void* data, std::size_t bytes, int root) override;
  steptape::detail::ranks::Transfer allgather(void* all, std::size_t bytesPerRank) override;
  steptape::detail::ranks::Transfer allgatherv(
      void* all, const steptape::detail::ranks::RankParts& parts) override;
  steptape::detail::ranks::Transfer gatherv(
      const void* mine, std::size_t bytes, int root, void* all,
      const steptape::detail::ranks::RankParts& parts) override;
  steptape::detail::ranks::Transfer alltoallv(
      const void* from, const steptape::detail::ranks::RankParts& sent, void* to,
      const steptape::detail::ranks::RankParts& received) override;
  bool canReduce(const steptape::detail::ranks::CollectiveCall& call) const override;
  steptape::detail::ranks::Transfer allreduce(const steptape::detail::ranks::CollectiveCall& call,
                                              std::size_t offset, std::size_t count) override;
  steptape::detail::ranks::Transfer reduceScatter(
      const steptape::detail::ranks::CollectiveCall& call, const std::vector<int>& counts) override;
  bool hasEnded(steptape::detail::ranks::Transfer& transfer) override;
  void postNote(const steptape::detail::ranks::StallNote& note) override;
  bool takeNote(int& rank, steptape::detail::ranks::StallNote& note) override;

 private:
  using Clock = std::chrono::steady_clock;

  using ByRank = std::vector<std::string>;
  /// Rank 0: makes the answer.
  /// @throws TransportFailure, of which all ranks learn, if the ranks' bytes do not fit together.
  using Combine = std::function<std::string(ByRank byRank)>;
  /// Takes over the answer.
  using Finish = std::function<void(const std::string& answer)>;

  struct Operation {
    std::string mine;
    Combine combine;
    Finish finish;
    bool isSent = false;  // this rank's bytes are in the store
    ByRank byRank;        // rank 0: what it has read
  };
  using Lanes = steptape::detail::ranks::OperationLanes<Operation>;

  steptape::detail::ranks::Transfer start(steptape::detail::ranks::LaneNumber lane,
                                          std::string mine, Combine combine, Finish finish);
  void advance(std::size_t lane);
  /// Rank 0.
  /// @return whether all ranks have sent their bytes.
  bool readAll(Operation& operation, const std::string& prefix);
  /// Rank 0: combines what it has read, and stores the answer.
  std::string answer(Operation& operation, const std::string& prefix);

  std::shared_ptr<KeyStore> store_;
  Lanes lanes_;
  Clock::time_point nextLook_;
  std::chrono::microseconds pause_{0};
  std::vector<std::string> seenNotes_;  // by rank
  Clock::time_point nextNotes_;
  int nextNote_ = 0;
  std::int64_t countedNotes_ = 0;  // at the last look
};

}  // namespace steptape::c10d::detail
