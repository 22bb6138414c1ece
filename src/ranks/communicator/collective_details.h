// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "ranks/communicator/collective_call.h"

namespace steptape::detail::ranks {

/// Returns the name of an operation in traces, such as "gloo:all_reduce".
///
/// The name is Gloo's name in PyTorch, whatever library transfers the data: PyTorch's TensorBoard
/// plugin shows only these collectives for a host, and scripts search for them. The span's details
/// contain the operation's own name and its size.
const char* collectiveSpanName(CollectiveKind kind);
/// Returns the span name for a thread that waits for an operation in flight: "wait for
/// gloo:all_reduce".
const char* collectiveWaitName(CollectiveKind kind);

/// Makes SpanDetails for the operations of one communicator, and returns their numbers. Programs
/// repeat their calls; only the first of equal calls is described.
///
/// The keys are Kineto's, if Kineto has one.
///
/// @threads Not thread-safe: one thread at a time, the communicator's.
class CollectiveDetails {
 public:
  /// @param jobRanks The group's ranks, as numbered in the job; empty if unknown.
  CollectiveDetails(int rank, int size, const std::vector<int>& jobRanks);

  /// Returns the number of a call's details.
  ///
  /// @param hasSucceeded Whether the operation has succeeded; only then its result is described.
  /// @return for SpanRecord::payloadOf(); 0 if there is no memory for new details.
  /// @cost   About 10 ns for a known call; a lock, a hash and some strings for a new call and for
  ///         one whose slot another call has taken.
  std::uint32_t idOf(const CollectiveCall& call, bool hasSucceeded) noexcept;

 private:
  /// Everything that distinguishes calls, except their names.
  struct Key {
    std::int64_t inElements;
    std::int64_t outElements;  // kUnknown: no result yet.
    int root;
    CollectiveKind kind;
    ReduceOp op;
    DType dtype;

    bool operator==(const Key& other) const;
  };
  struct Slot {
    Key key;
    std::string name;
    std::uint32_t id = 0;  // 0: the slot is empty.
  };

  static constexpr std::int64_t kUnknown = -1;
  static constexpr std::size_t kSlots = 256;

  static Key keyOf(const CollectiveCall& call, bool hasSucceeded);
  static std::size_t slotOf(const Key& key, const std::string& name);
  std::uint32_t intern(const Key& key, const std::string& name) const;

  std::string groupArguments_;
  std::array<Slot, kSlots> slots_;
};

}  // namespace steptape::detail::ranks
