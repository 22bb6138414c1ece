// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/base/status.h"

#include "ranks/communicator/collective_call.h"
#include "ranks/communicator/group_map.h"
#include "ranks/engine/compared_message.h"

namespace steptape::detail::ranks {

/// An operation of a Transport that is in flight; 0: none.
using Transfer = std::uint64_t;

/// Thrown by a Transport that cannot move data any more, with the reason. The engine adds the
/// collective and the rank.
class STEPTAPE_EXPORT TransportFailure : public std::runtime_error {
 public:
  TransportFailure(ErrorCode code, const std::string& why) : std::runtime_error(why), code_(code) {}
  ~TransportFailure() override;
  ErrorCode code() const { return code_; }

 private:
  ErrorCode code_;
};

/// The bytes from or to each rank, in consecutive memory.
struct RankParts {
  std::vector<int> counts;
  std::vector<int> starts;

  void clear() {
    counts.clear();
    starts.clear();
  }
  void add(std::size_t bytes) {
    starts.push_back(starts.empty() ? 0 : starts.back() + counts.back());
    counts.push_back(static_cast<int>(bytes));
  }
  std::size_t total() const {
    return static_cast<std::size_t>(starts.back()) + static_cast<std::size_t>(counts.back());
  }
};

/// What a rank that waits long tells the others.
struct StallNote {
  std::uint64_t latest = 0;   ///< The latest collective that it has started.
  std::uint64_t awaited = 0;  ///< The collective in which it waits.
  std::array<char, 240> call{};
};

/// Moves data between the ranks of one group. The engine makes the collectives of Communicator of
/// these few operations.
///
/// An operation begins and returns at once; hasEnded() advances it. Ranks start the operations of
/// each of three kinds in the same order, but may interleave the kinds differently: comparisons,
/// reports, and all others, which move data. Memory passed to an operation must live until it has
/// ended.
///
/// Counts in one operation must fit `int`, and add up to at most maxCount().
///
/// Every function may throw TransportFailure.
///
/// @threads Not thread-safe: one thread at a time, the communicator's.
class STEPTAPE_EXPORT Transport {
 public:
  Transport(GroupMap map, std::size_t maxCount) : map_(std::move(map)), maxCount_(maxCount) {}
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;
  virtual ~Transport();

  const GroupMap& map() const { return map_; }
  std::size_t maxCount() const { return maxCount_; }

  /// Merges the messages of all ranks, in any order.
  virtual Transfer compare(ComparedMessage& message) = 0;
  /// Gathers the reports of all ranks; this rank's is at its place in `all`.
  virtual Transfer gatherReports(char* all, std::size_t bytesPerRank) = 0;

  virtual Transfer barrier() = 0;
  virtual Transfer broadcast(void* data, std::size_t bytes, int root) = 0;
  /// Gathers `bytesPerRank` bytes of each rank; this rank's are at their place in `all`.
  virtual Transfer allgather(void* all, std::size_t bytesPerRank) = 0;
  /// Gathers the bytes of each rank; this rank's are at their place in `all`.
  virtual Transfer allgatherv(void* all, const RankParts& parts) = 0;
  /// Gathers the bytes of each rank at `root`. A rank that is not the root sends only its own bytes
  /// and passes null and no parts.
  virtual Transfer gatherv(const void* mine, std::size_t bytes, int root, void* all,
                           const RankParts& parts) = 0;
  virtual Transfer alltoallv(const void* from, const RankParts& sent, void* to,
                             const RankParts& received) = 0;

  /// Returns whether the next two functions can reduce what `call` reduces. If not, the engine
  /// moves the elements and combines them itself.
  virtual bool canReduce(const CollectiveCall& call) const = 0;
  /// Reduces `count` elements or moments of `call`, from number `offset` on. Averages of elements
  /// that are not reduced in float32 are summed only.
  virtual Transfer allreduce(const CollectiveCall& call, std::size_t offset, std::size_t count) = 0;
  /// Reduces all elements of `call`, of which rank r gets `counts[r]`.
  virtual Transfer reduceScatter(const CollectiveCall& call, const std::vector<int>& counts) = 0;

  /// Advances `transfer`, and sets it to 0 if it has ended.
  ///
  /// @return whether it has ended.
  virtual bool hasEnded(Transfer& transfer) = 0;

  /// Returns whether notes reach the other ranks; if not, nobody knows which ranks are missing.
  virtual bool passesNotes() const { return true; }
  /// Shows the note to all other ranks, until the next one.
  virtual void postNote(const StallNote& note) = 0;
  /// Reads the next note that has arrived.
  ///
  /// @return whether there was one.
  virtual bool takeNote(int& rank, StallNote& note) = 0;
  /// Tells the other ranks the number of the latest collective, if that costs next to nothing.
  virtual void noteLatest(std::uint64_t latest);

  /// Called before other functions on paths that may run while the transport is being shut down.
  ///
  /// @return whether the transport may be used until leave(), which must follow in any case.
  virtual bool enter();
  virtual void leave();
  /// Returns why enter() returned false: "MPI was finalized".
  virtual std::string endedBecause() const;
  /// Returns why the transport cannot be used now; empty if it can.
  virtual std::string unusableBecause() const;
  /// Called once, when an operation of this process will never end.
  virtual void noteBroken(const std::string& why);
  /// Returns why operations in flight will not end, as far as this can be known without waiting:
  /// another rank's process has ended, or the job. Empty: not known.
  virtual std::string lostBecause();

  /// @throws Error(kFailedPrecondition) if no operation can succeed any more.
  void requireUsable(const CollectiveCall& call) const;
  /// As above, for what `name` stands for.
  void requireUsable(const std::string& name) const;
  /// Makes every later operation fail.
  void markBroken(const std::string& why);
  bool isBroken() const { return !brokenBecause_.empty(); }

 private:
  /// Returns why no operation can succeed; empty if one can.
  std::string failedBecause() const;

  GroupMap map_;
  std::size_t maxCount_;
  std::string brokenBecause_;  // empty: not broken
};

/// Calls Transport::enter() and leave() for a scope.
class TransportUse {
 public:
  explicit TransportUse(Transport& transport)
      : transport_(transport), isAllowed_(transport.enter()) {}
  ~TransportUse() { transport_.leave(); }
  TransportUse(const TransportUse&) = delete;
  TransportUse& operator=(const TransportUse&) = delete;

  explicit operator bool() const { return isAllowed_; }

 private:
  Transport& transport_;
  bool isAllowed_;
};

/// Returns how a transport combines elements: averages are made of sums, except in float32.
STEPTAPE_EXPORT ReduceOp combinedBy(const CollectiveCall& call);
/// Returns the size of an element or of moments.
STEPTAPE_EXPORT std::size_t elementBytes(const CollectiveCall& call);
/// Returns the caller's elements of this rank.
inline const void* inputOf(const CollectiveCall& call) {
  return call.input == nullptr ? call.output : call.input;
}

}  // namespace steptape::detail::ranks
