// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "comm/collective_call.h"

namespace steptape::detail {

/// What an operation is called in traces, such as "gloo:all_reduce".
///
/// Whatever carries it, it has the name that Gloo's would have in PyTorch: PyTorch's TensorBoard
/// plugin shows no other collectives of a host, and scripts search for them. The operation by its
/// own name, and what it moves, is in its details.
const char* collectiveSpanName(CollectiveKind kind);
/// What a thread does that blocks until an operation under way has ended: "wait for
/// gloo:all_reduce".
const char* collectiveWaitName(CollectiveKind kind);

/// Numbers of SpanDetails for the operations of one communicator: a program repeats its calls, and
/// what is known of a call is put into words for the first one only.
///
/// The keys of the words are Kineto's, where it has one.
///
/// @threads Not thread-safe: one thread at a time, the communicator's.
class CollectiveDetails {
 public:
  /// @param jobRanks The group's ranks as the job counts them; empty if unknown.
  CollectiveDetails(int rank, int size, const std::vector<int>& jobRanks);

  /// @param hasSucceeded Whether the operation has ended well: its result is described then.
  /// @return for SpanRecord::payloadOf(); 0 if there is no memory for new ones.
  /// @cost   About 10 ns for what is known; a lock, a hash and some strings for what is new, and
  ///         for what has lost its place to another call.
  std::uint32_t idOf(const CollectiveCall& call, bool hasSucceeded) noexcept;

 private:
  /// What distinguishes calls, except their names.
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
    std::uint32_t id = 0;  // 0: empty.
  };

  static constexpr std::int64_t kUnknown = -1;
  static constexpr std::size_t kSlots = 256;

  static Key keyOf(const CollectiveCall& call, bool hasSucceeded);
  static std::size_t slotOf(const Key& key, const std::string& name);
  std::uint32_t intern(const Key& key, const std::string& name) const;

  std::string groupArguments_;
  std::array<Slot, kSlots> slots_;
};

}  // namespace steptape::detail
