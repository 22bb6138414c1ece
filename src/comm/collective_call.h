// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/comm/collective.h"

namespace steptape::detail {

class GroupedElements;

enum class CollectiveKind : std::uint8_t {
  kBarrier,
  kAllreduce,
  kAllreduceMoments,  ///< `output` is MetricMoments[count].
  kReduceScatter,
  kBroadcast,
  kAllgather,
  kAlltoall,
  kGather,  ///< An alltoall in which every rank sends to `root` only.
};

/// One rank's part in a collective: what the public calls of Communicator become.
struct STEPTAPE_EXPORT CollectiveCall {
  CollectiveKind kind = CollectiveKind::kBarrier;
  ReduceOp op = ReduceOp::kSum;
  DType dtype = DType::kUInt8;
  int root = 0;
  bool compareRanks = true;
  std::string name;

  const void* input = nullptr;  ///< Null: in place, in `output`.
  std::size_t inputCount = 0;   ///< Elements; for bytes, bytes.
  void* output = nullptr;
  std::size_t count = 0;  ///< Elements of `output`.

  const std::vector<std::string>* toRank = nullptr;  ///< kAlltoall, kGather.
  std::vector<std::string>* fromRank = nullptr;      ///< kAllgather, kAlltoall, kGather.

  /// The arrays that `output` holds one after the other, which get the result; null: none. Keeps
  /// that memory for as long as the collective may write to it.
  std::shared_ptr<GroupedElements> grouped;

  /// "allreduce(sum) 'gradients' of 12 float32": what must agree between the ranks, in words.
  std::string describe() const;
  /// The same without the size: "allreduce(sum) 'gradients'".
  std::string title() const;
  /// A hash of describe(), without making the text.
  std::uint64_t fingerprint() const;
  /// Whether `input` and `output` are elements of `dtype`, not bytes or moments.
  bool hasElements() const;
};

/// Such as "sum".
const char* reduceOpName(ReduceOp op);

}  // namespace steptape::detail
