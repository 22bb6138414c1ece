// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "comm/collective_call.h"

#include <mpi.h>

namespace steptape::mpi::detail {

/// The message by which ranks detect whether they are in the same collective: the minimum and the
/// maximum of their fingerprints, and the few elements of a small allreduce.
///
/// All messages have one size, so that ranks in different collectives meet in the same MPI call.
/// Elements are combined between ranks whose fingerprints are equal. The result is used only if all
/// fingerprints are equal.
class ComparedMessage {
 public:
  static constexpr std::size_t kBytes = 128;

  /// Returns whether the whole collective is in the message: a small allreduce, or a barrier, which
  /// has no data.
  static bool carries(const steptape::detail::CollectiveCall& call);

  ComparedMessage() = default;
  ComparedMessage(const steptape::detail::CollectiveCall& call, std::uint64_t fingerprint);

  bool isSameOnAllRanks() const { return greatest_ == ~greatestInverted_; }
  /// Writes the elements to the caller's memory. REQUIRES: isSameOnAllRanks(), carries(call)
  void store(const steptape::detail::CollectiveCall& call, int ranks) const;

  /// The MPI_User_function. Must not throw.
  static void combine(void* from, void* into, int* count, MPI_Datatype* type);

 private:
  static constexpr std::size_t kElementBytes = 104;
  void merge(const ComparedMessage& other);

  std::uint64_t greatest_ = 0;
  std::uint64_t greatestInverted_ = 0;  // the inverted minimum is the maximum inverted one
  std::uint32_t count_ = 0;             // Number of elements; may be 0.
  DType dtype_ = DType::kUInt8;
  ReduceOp op_ = ReduceOp::kSum;
  alignas(8) std::array<std::byte, kElementBytes> elements_{};
};
static_assert(sizeof(ComparedMessage) == ComparedMessage::kBytes, "travels as that many bytes");

}  // namespace steptape::mpi::detail
