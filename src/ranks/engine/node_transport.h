// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "steptape/ranks/collective.h"

#include "ranks/engine/note_board.h"
#include "ranks/engine/operation_lanes.h"
#include "ranks/engine/rank_blocks.h"
#include "ranks/engine/shared_slots.h"
#include "ranks/engine/transport.h"

namespace steptape::detail::ranks {

/// Moves data through memory that the ranks of a node share, for a group of ranks of one node.
///
/// Operations of one kind form a lane, which has SharedSlots of its own. Large operations take
/// several rounds.
///
/// Results of reductions are combined in the order of the ranks, so they are bit-identical on every
/// rank, and do not depend on the launcher.
///
/// Data moves only while a rank calls the transport, as with MPI.
class STEPTAPE_EXPORT NodeTransport : public Transport {
 public:
  /// Returns the bytes of memory for a group of `ranks` ranks.
  static std::size_t bytesFor(int ranks);

  /// Makes the memory for the ranks that `setup` connects. Collective.
  ///
  /// @param why Unless null: receives the reason if the memory cannot be made.
  /// @return null on every rank if it cannot, if the ranks are on several nodes, or for one rank,
  ///         which needs none.
  static std::shared_ptr<NodeMemory> tryMakeMemory(const std::shared_ptr<Transport>& setup,
                                                   std::chrono::milliseconds timeout,
                                                   std::string* why = nullptr);

  /// @param memory Of bytesFor() bytes, zero at first, shared by all ranks of the group; other code
  ///               must not write to it.
  /// @param map    All ranks are on one node.
  NodeTransport(std::shared_ptr<NodeMemory> memory, GroupMap map);

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
  void postNote(const StallNote& note) override { notes_.post(note); }
  bool takeNote(int& rank, StallNote& note) override { return notes_.take(rank, note); }
  void noteLatest(std::uint64_t latest) override { notes_.noteLatest(latest); }
  void noteBroken(const std::string& why) override;
  std::string lostBecause() override;

 private:
  enum class Kind : std::uint8_t {
    kBarrier,
    kCompare,
    kBroadcast,
    kAllgather,
    kGather,
    kAlltoall,
    kAllreduce,
    kReduceScatter,
  };
  enum class Step : std::uint8_t { kWrite, kRead, kReadCombined };

  /// An operation, and how far it is.
  struct Operation {
    Kind kind = Kind::kBarrier;
    Step step = Step::kWrite;
    int root = 0;
    const CollectiveCall* call = nullptr;  // of reductions
    ComparedMessage* message = nullptr;
    const std::byte* from = nullptr;
    std::byte* to = nullptr;
    std::size_t bytes = 0;  // of each rank, or of the whole
    std::size_t own = 0;    // bytes of this rank in a gather, which differ between ranks
    const RankParts* sent = nullptr;
    const RankParts* received = nullptr;
    const std::vector<int>* counts = nullptr;
    std::size_t done = 0;  // bytes that have been moved
    std::size_t most = 0;  // bytes that one rank moves at most
  };
  using Lanes = OperationLanes<Operation>;

  struct Section;
  /// Returns the section of `rank`: `bytes` are split evenly, at multiples of an element.
  static Section sectionOf(int rank, int ranks, std::size_t bytes, std::size_t element);
  /// Returns where the bytes of `rank` belong that an allgather gathers.
  static Section gatheredFrom(const Operation& operation, int rank);

  /// What a slot holds, by which ranks detect that they passed different sizes.
  struct SlotHead {
    std::uint64_t most;
    std::uint64_t fingerprint;
  };

  Transfer start(LaneNumber lane, const Operation& operation);
  void advance(std::size_t lane);
  /// @return whether the operation has ended.
  bool advance(SharedSlots& slots, Operation& operation);
  void write(SharedSlots& slots, Operation& operation);
  /// Reads the slots of a round.
  /// @return whether the operation has ended.
  bool read(SharedSlots& slots, Operation& operation);
  void readGathered(const SharedSlots& slots, const Operation& operation);
  void readAlltoall(const SharedSlots& slots, const Operation& operation);
  /// Sets parts_ to the bytes at `offset` in the slot of each rank.
  void takeParts(const SharedSlots& slots, std::size_t offset);
  void readAllreduce(const SharedSlots& slots, const Operation& operation);
  void readReduceScatter(const SharedSlots& slots, const Operation& operation);
  /// Combines this rank's section of a round, in its slot.
  void combineSection(const SharedSlots& slots, const Operation& operation);
  void readSections(const SharedSlots& slots, const Operation& operation);
  bool sharesTheWork(const Operation& operation, std::size_t bytes) const;
  /// Compares the heads of all slots, and takes over the sizes that only other ranks know.
  void checkHeads(const SharedSlots& slots, Operation& operation) const;

  /// Returns how many bytes of one rank, or of one section, move in one round.
  static std::size_t chunkBytes(const SharedSlots& slots, const Operation& operation);

  const std::shared_ptr<NodeMemory> memory_;
  const int rank_;
  const int size_;
  const RankBlocks blocks_;
  SharedSlots::OfLanes slots_;
  Lanes lanes_;
  NoteBoard notes_;
  std::vector<const void*> parts_;  // of a reduction, by rank; kept for its memory
};

}  // namespace steptape::detail::ranks
