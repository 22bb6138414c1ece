// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "c10d/key_store.h"
#include "transport/transport.h"

namespace steptape::c10d::detail {

/// Moves data through a key-value store: slow, but it needs nothing else. For the few messages by
/// which the ranks of a group agree on a faster way.
///
/// In each operation, every rank stores all of its bytes under a key of its own and reads those of
/// all others.
class StoreTransport final : public steptape::detail::Transport {
 public:
  StoreTransport(std::shared_ptr<KeyStore> store, steptape::detail::GroupMap map);

  steptape::detail::Transfer compare(steptape::detail::ComparedMessage& message) override;
  steptape::detail::Transfer gatherReports(char* all, std::size_t bytesPerRank) override;
  steptape::detail::Transfer barrier() override;
  steptape::detail::Transfer broadcast(void* data, std::size_t bytes, int root) override;
  steptape::detail::Transfer allgather(void* all, std::size_t bytesPerRank) override;
  steptape::detail::Transfer allgatherv(void* all,
                                        const steptape::detail::RankParts& parts) override;
  steptape::detail::Transfer alltoallv(const void* from, const steptape::detail::RankParts& sent,
                                       void* to,
                                       const steptape::detail::RankParts& received) override;
  bool canReduce(const steptape::detail::CollectiveCall& call) const override;
  steptape::detail::Transfer allreduce(const steptape::detail::CollectiveCall& call,
                                       std::size_t offset, std::size_t count) override;
  steptape::detail::Transfer reduceScatter(const steptape::detail::CollectiveCall& call,
                                           const std::vector<int>& counts) override;
  bool hasEnded(steptape::detail::Transfer& transfer) override;
  void postNote(const steptape::detail::StallNote& note) override;
  bool takeNote(int& rank, steptape::detail::StallNote& note) override;

 private:
  using Clock = std::chrono::steady_clock;

  /// An operation: what each rank sent, and what to do with it.
  struct Operation {
    std::vector<std::string> byRank;
    bool isSent = false;  // this rank's bytes are in the store
    int next = 0;         // ranks below it have been read
    std::function<void(const std::vector<std::string>&)> finish;
  };
  /// The operations of one kind, in order.
  struct Lane {
    std::deque<Operation> operations;
    std::uint64_t started = 0;
    std::uint64_t ended = 0;
  };
  enum LaneNumber : std::size_t { kComparisons, kReports, kData, kLanes };

  steptape::detail::Transfer start(LaneNumber number, std::string mine,
                                   std::function<void(const std::vector<std::string>&)> finish);
  void advance(std::size_t number);
  std::string keyOf(std::size_t number, std::uint64_t operation, int rank) const;

  std::shared_ptr<KeyStore> store_;
  std::array<Lane, kLanes> lanes_;
  Clock::time_point nextLook_;
  std::chrono::microseconds pause_{0};
  std::vector<std::string> seenNotes_;  // by rank
  Clock::time_point nextNotes_;
  int nextNote_ = 0;
};

}  // namespace steptape::c10d::detail
