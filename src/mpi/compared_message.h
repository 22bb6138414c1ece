// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "comm/collective_call.h"

#include <mpi.h>

namespace steptape::mpi::detail {

/// What the ranks reduce to find out whether they are in the same collective: the least and the
/// greatest of their fingerprints, and with them the few elements of a small allreduce.
///
/// Of one size whatever the collective is, so that ranks which are in different ones meet in the
/// same MPI call. Elements are combined between ranks that say the same of them; whether all did is
/// told by the fingerprints, and only then are they anybody's result.
class ComparedMessage {
 public:
  static constexpr std::size_t kBytes = 128;

  /// Whether the whole collective is in the message: a small allreduce, or a barrier, which has no
  /// data at all.
  static bool carries(const steptape::detail::CollectiveCall& call);

  ComparedMessage() = default;
  ComparedMessage(const steptape::detail::CollectiveCall& call, std::uint64_t fingerprint);

  bool isSameOnAllRanks() const { return greatest_ == ~greatestInverted_; }
  /// Writes the elements to the caller's memory. REQUIRES: isSameOnAllRanks(), carries(call)
  void store(const steptape::detail::CollectiveCall& call, int ranks) const;

  /// MPI_User_function. @throws nothing: no exception may leave it.
  static void combine(void* from, void* into, int* count, MPI_Datatype* type);

 private:
  static constexpr std::size_t kElementBytes = 104;
  void merge(const ComparedMessage& other);

  std::uint64_t greatest_ = 0;
  std::uint64_t greatestInverted_ = 0;  // The least one, inverted, is the greatest inverted one.
  std::uint32_t count_ = 0;             // Of elements; 0: none.
  DType dtype_ = DType::kUInt8;
  ReduceOp op_ = ReduceOp::kSum;
  alignas(8) std::array<std::byte, kElementBytes> elements_{};
};
static_assert(sizeof(ComparedMessage) == ComparedMessage::kBytes, "travels as that many bytes");

}  // namespace steptape::mpi::detail
