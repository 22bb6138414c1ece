// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/ranks/collective.h"

namespace steptape::detail::ranks {

class GroupedElements;

enum class CollectiveKind : std::uint8_t {
  kBarrier,
  kAllreduce,
  kAllreduceMoments,  ///< `output` is MetricMoments[count].
  kReduceScatter,
  kBroadcast,
  kAllgather,
  kAlltoall,
  kGather,  ///< An allgather whose result only `root` gets.
};

/// One rank's part in a collective, made from a public call of Communicator.
struct STEPTAPE_EXPORT CollectiveCall {
  CollectiveKind kind = CollectiveKind::kBarrier;
  ReduceOp op = ReduceOp::kSum;
  DType dtype = DType::kUInt8;
  int root = 0;
  bool compareRanks = true;
  std::string name;

  const void* input = nullptr;  ///< Null: in place, in `output`.
  std::size_t inputCount = 0;   ///< In elements, or in bytes if the data is bytes.
  void* output = nullptr;
  std::size_t count = 0;  ///< Elements of `output`.

  const std::vector<std::string>* toRank = nullptr;  ///< For kAlltoall.
  /// For kAllgather, kAlltoall and kGather; kGather leaves it empty on ranks other than `root`.
  std::vector<std::string>* fromRank = nullptr;

  /// The arrays that are packed in `output` and receive the result; may be null. Keeps the memory
  /// alive while the collective may write to it.
  std::shared_ptr<GroupedElements> grouped;

  /// Returns what must agree between ranks: "allreduce(sum) 'gradients' of 12 float32".
  std::string describe() const;
  /// Returns describe() without the size: "allreduce(sum) 'gradients'".
  std::string title() const;
  /// Returns a hash of describe() without building the text.
  std::uint64_t fingerprint() const;
  /// Returns whether `input` and `output` are elements of `dtype`, not bytes or moments.
  bool hasElements() const;
};

/// Returns whether the implementation knows when all ranks have arrived: it compares the ranks, or
/// the collective is a barrier, which consists of waiting alone.
inline bool comparesRanks(const CollectiveCall& call) {
  return call.compareRanks || call.kind == CollectiveKind::kBarrier;
}

/// Returns a name such as "sum".
const char* reduceOpName(ReduceOp op);

}  // namespace steptape::detail::ranks
