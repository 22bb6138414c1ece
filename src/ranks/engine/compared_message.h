// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "steptape/base/export.h"

#include "ranks/communicator/collective_call.h"

namespace steptape::detail::ranks {

/// The message by which ranks detect whether they are in the same collective: the minimum and the
/// maximum of their fingerprints, and the few elements of a small allreduce.
///
/// All messages have one size, so that ranks in different collectives meet in the same operation.
/// Elements are combined between ranks whose fingerprints are equal. The result is used only if all
/// fingerprints are equal.
class STEPTAPE_EXPORT ComparedMessage {
 public:
  static constexpr std::size_t kBytes = 128;

  /// Returns whether the whole collective is in the message: a small allreduce, or a barrier, which
  /// has no data.
  static bool carries(const CollectiveCall& call);

  ComparedMessage() = default;
  ComparedMessage(const CollectiveCall& call, std::uint64_t fingerprint);

  bool isSameOnAllRanks() const { return greatest_ == ~greatestInverted_; }
  /// Writes the elements to the caller's memory. REQUIRES: isSameOnAllRanks(), carries(call)
  void store(const CollectiveCall& call, int ranks) const;

  /// Adds the message of another rank, or of several. Never throws.
  void merge(const ComparedMessage& other);
  /// Does so for the bytes of all ranks, this one included, in their order; those of rank 0 replace
  /// the message.
  void mergeInOrder(int rank, const void* bytes);

 private:
  static constexpr std::size_t kElementBytes = 104;

  std::uint64_t greatest_ = 0;
  std::uint64_t greatestInverted_ = 0;  // the inverted minimum is the maximum inverted one
  std::uint32_t count_ = 0;             // Number of elements; may be 0.
  DType dtype_ = DType::kUInt8;
  ReduceOp op_ = ReduceOp::kSum;
  alignas(8) std::array<std::byte, kElementBytes> elements_{};
};
static_assert(sizeof(ComparedMessage) == ComparedMessage::kBytes, "travels as that many bytes");

}  // namespace steptape::detail::ranks
