// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ranks/engine/transport.h"

namespace steptape::test {

/// What one rank has asked its transport for.
struct TransportCounts {
  /// Operations in which each rank exchanges messages with few others: a tree, for example.
  std::size_t operations = 0;
  /// Messages of operations in which each rank has something else for each other rank.
  std::size_t pairs = 0;
  std::size_t sentBytes = 0;      ///< Bytes of this rank, which it hands over.
  std::size_t receivedBytes = 0;  ///< Bytes that it gets, and for which it has the memory.

  TransportCounts operator-(const TransportCounts& before) const {
    return {operations - before.operations, pairs - before.pairs, sentBytes - before.sentBytes,
            receivedBytes - before.receivedBytes};
  }
};

/// Forwards everything to another transport and counts. The figures do not depend on the machine,
/// nor on how the other transport moves the bytes.
class CountingTransport final : public detail::ranks::Transport {
 public:
  using CollectiveCall = detail::ranks::CollectiveCall;
  using RankParts = detail::ranks::RankParts;
  using Transfer = detail::ranks::Transfer;

  explicit CountingTransport(std::shared_ptr<detail::ranks::Transport> inner)
      : Transport(inner->map(), inner->maxCount()), inner_(std::move(inner)) {}

  const TransportCounts& counts() const { return counts_; }

  Transfer compare(detail::ranks::ComparedMessage& message) override {
    count(detail::ranks::ComparedMessage::kBytes, detail::ranks::ComparedMessage::kBytes);
    return inner_->compare(message);
  }
  Transfer gatherReports(char* all, std::size_t bytesPerRank) override {
    count(bytesPerRank, bytesPerRank * size());
    return inner_->gatherReports(all, bytesPerRank);
  }
  Transfer barrier() override {
    count(0, 0);
    return inner_->barrier();
  }
  Transfer broadcast(void* data, std::size_t bytes, int root) override {
    const bool sends = map().rank() == root;
    count(sends ? bytes : 0, sends ? 0 : bytes);
    return inner_->broadcast(data, bytes, root);
  }
  Transfer allgather(void* all, std::size_t bytesPerRank) override {
    count(bytesPerRank, bytesPerRank * size());
    return inner_->allgather(all, bytesPerRank);
  }
  Transfer allgatherv(void* all, const RankParts& parts) override {
    count(ofThisRank(parts), parts.total());
    return inner_->allgatherv(all, parts);
  }
  Transfer gatherv(const void* mine, std::size_t bytes, int root, void* all,
                   const RankParts& parts) override {
    count(bytes, parts.counts.empty() ? 0 : parts.total());
    return inner_->gatherv(mine, bytes, root, all, parts);
  }
  Transfer alltoallv(const void* from, const RankParts& sent, void* to,
                     const RankParts& received) override {
    counts_.pairs += size() - 1;
    count(sent.total(), received.total());
    return inner_->alltoallv(from, sent, to, received);
  }
  bool canReduce(const CollectiveCall& call) const override { return inner_->canReduce(call); }
  Transfer allreduce(const CollectiveCall& call, std::size_t offset,
                     std::size_t elements) override {
    const std::size_t bytes = elements * detail::ranks::elementBytes(call);
    count(bytes, bytes);
    return inner_->allreduce(call, offset, elements);
  }
  Transfer reduceScatter(const CollectiveCall& call, const std::vector<int>& elements) override {
    const std::size_t bytes = detail::ranks::elementBytes(call);
    count(call.inputCount * bytes, call.count * bytes);
    return inner_->reduceScatter(call, elements);
  }
  bool hasEnded(Transfer& transfer) override { return inner_->hasEnded(transfer); }
  void postNote(const detail::ranks::StallNote& note) override { inner_->postNote(note); }
  bool takeNote(int& rank, detail::ranks::StallNote& note) override {
    return inner_->takeNote(rank, note);
  }
  void noteLatest(std::uint64_t latest) override { inner_->noteLatest(latest); }
  bool enter() override { return inner_->enter(); }
  void leave() override { inner_->leave(); }
  std::string endedBecause() const override { return inner_->endedBecause(); }
  std::string unusableBecause() const override { return inner_->unusableBecause(); }
  void noteBroken(const std::string& why) override { inner_->noteBroken(why); }
  std::string lostBecause() override { return inner_->lostBecause(); }

 private:
  std::size_t size() const { return static_cast<std::size_t>(map().size()); }
  std::size_t ofThisRank(const RankParts& parts) const {
    return static_cast<std::size_t>(parts.counts[static_cast<std::size_t>(map().rank())]);
  }
  void count(std::size_t sent, std::size_t received) {
    ++counts_.operations;
    counts_.sentBytes += sent;
    counts_.receivedBytes += received;
  }

  std::shared_ptr<detail::ranks::Transport> inner_;
  TransportCounts counts_;
};

}  // namespace steptape::test
