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

#include "steptape/base/export.h"

#include "ranks/engine/engine_communicator.h"
#include "ranks/engine/transport.h"

namespace steptape::detail::ranks {

/// Ranks that can gather some bytes of each, while the program does something else. Any library for
/// processes that communicate offers it. If they can send as well, a rank that waits names the
/// missing ranks.
///
/// The operations of a lane are begun in the same order by all ranks; those of different lanes are
/// not.
///
/// @threads Not thread-safe: only the thread that has made it, one call at a time.
class STEPTAPE_EXPORT GatheringRanks {
 public:
  enum Lane { kData, kComparisons, kReports };

  GatheringRanks() = default;
  virtual ~GatheringRanks();
  GatheringRanks(const GatheringRanks&) = delete;
  GatheringRanks& operator=(const GatheringRanks&) = delete;

  virtual int rank() const = 0;
  virtual std::size_t ranks() const = 0;
  /// Returns false if operations can no longer begin.
  virtual bool isUsable() const = 0;
  /// Returns why, for messages: "MPI was finalized".
  virtual std::string endedBecause() const = 0;
  /// Begins to gather `bytes` bytes of each rank. Those of this rank are at their place in `all`,
  /// which has room for all, in the order of the ranks.
  ///
  /// @return the operation; not null.
  /// @throws TransportFailure
  virtual void* startGather(Lane lane, void* all, std::size_t bytes) const = 0;
  /// Returns whether the operation has ended; it must not be asked for again then.
  ///
  /// @throws TransportFailure
  virtual bool hasEnded(void* operation) const = 0;

  virtual bool canSend() const { return false; }
  /// Begins to send bytes to another rank, which may receive them at any time or never.
  ///
  /// @return the operation; not null.
  /// @throws TransportFailure
  virtual void* startSend(int rank, const void* data, std::size_t bytes) const;
  /// Receives a message of `bytes` bytes that has arrived.
  ///
  /// @return its sender; -1 if there is none.
  /// @throws TransportFailure
  virtual int receive(void* data, std::size_t bytes) const;
};

/// Moves data between ranks by gathering it from all of them. The messages of metrics are small; a
/// broadcast to P ranks moves P times its bytes.
///
/// The operations of a lane run one after the other: some gather twice, and ranks must begin these
/// parts in one order.
class GatherTransport final : public Transport {
 public:
  GatherTransport(std::shared_ptr<const GatheringRanks> ranks, GroupMap map);
  ~GatherTransport() override;

  Transfer compare(ComparedMessage& message) override;
  Transfer gatherReports(char* all, std::size_t bytesPerRank) override;
  Transfer barrier() override;
  Transfer broadcast(void* data, std::size_t bytes, int root) override;
  Transfer allgather(void* all, std::size_t bytesPerRank) override;
  Transfer allgatherv(void* all, const RankParts& parts) override;
  Transfer gatherv(const void* mine, std::size_t bytes, int root, void* all,
                   const RankParts& parts) override;
  Transfer alltoallv(const void* from, const RankParts& sent, void* to,
                     const RankParts& received) override;
  bool canReduce(const CollectiveCall& call) const override;
  Transfer allreduce(const CollectiveCall& call, std::size_t offset, std::size_t count) override;
  Transfer reduceScatter(const CollectiveCall& call, const std::vector<int>& counts) override;
  bool hasEnded(Transfer& transfer) override;
  bool passesNotes() const override { return ranks_->canSend(); }
  void postNote(const StallNote& note) override;
  bool takeNote(int& rank, StallNote& note) override;
  bool enter() override { return ranks_->isUsable(); }
  std::string endedBecause() const override { return ranks_->endedBecause(); }

 private:
  using Lane = GatheringRanks::Lane;

  /// Gathers `bytes` bytes of each rank, then goes on with what `then` prepares.
  struct Operation {
    Lane lane = Lane::kData;
    void* all = nullptr;  ///< Null: `buffer`.
    std::size_t bytes = 0;
    std::string buffer;
    std::string mine;  ///< What this rank sends in a second part.
    /// @return whether that was the last part.
    std::function<bool(Operation*)> then;
    void* handle = nullptr;  ///< Null: not yet begun.
    bool isDone = false;
  };

  /// A note on its way to the other ranks.
  struct SentNote {
    StallNote note;
    std::vector<void*> sends;
  };

  /// Forgets the notes that all ranks have received.
  void forgetReceivedNotes();
  /// Returns an operation that gathers in its own buffer, where this rank's bytes are already.
  Operation gathering(const void* mine, std::size_t bytes) const;
  Transfer add(Operation operation);
  /// Advances the first operation of a lane.
  void advance(Lane lane);
  /// Gathers this rank's bytes, of any number, and hands all to `use`, with how many of each.
  Transfer gatherAny(
      std::string mine,
      std::function<void(const char* all, std::size_t stride, const std::uint64_t* sizes)> use);

  const std::shared_ptr<const GatheringRanks> ranks_;
  std::array<std::deque<Operation*>, 3> lanes_;    ///< Of `known_`.
  std::vector<std::unique_ptr<Operation>> known_;  ///< Of transfers that have not ended.
  std::vector<std::unique_ptr<SentNote>> sentNotes_;
};

/// The communicator of a job whose ranks can gather, and nothing else.
class STEPTAPE_EXPORT GatherCommunicator final : public EngineCommunicator {
 public:
  /// Tells all ranks on which nodes they are, and checks that they have one version of the library.
  /// Collective.
  ///
  /// @throws Error(kRankMismatch), Error(kDeadlineExceeded), TransportFailure
  explicit GatherCommunicator(const std::shared_ptr<const GatheringRanks>& job);

  /// @throws Error(kFailedPrecondition): metrics need no groups.
  std::shared_ptr<Communicator> split(int color, int key) override;
  std::shared_ptr<NodeMemory> allocateNodeMemory(std::size_t bytes, std::string* why) override;
};

}  // namespace steptape::detail::ranks
