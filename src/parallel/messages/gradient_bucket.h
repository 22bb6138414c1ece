// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "parallel/gradients/gradient_slots.h"

#include <c10/core/Stream.h>

namespace steptape::detail {

/// Gradients that travel together: of one element type, on one device.
struct GradientBucket {
  std::string name;                ///< "gradients of bucket 3 (conv1.weight ... fc1.bias)".
  std::vector<std::size_t> slots;  ///< Ascending by offset.
  at::Tensor memory;               ///< Flat; the slots' gradients lie in it, zeros between them.
  /// The queue of the device in which the gradients came here; none in main memory.
  std::optional<c10::Stream> stream;
};

/// Fills buckets with the slots named by `order`, in this order, and gives the slots their places:
/// GradientSlot::array is then the bucket's index.
///
/// @param firstBytes Of the first bucket of each kind, and `bytes` of the others: how much goes
///        into one. A gradient that is larger has a bucket of its own.
/// @return ascending by when their last gradient comes in `order`.
std::vector<GradientBucket> makeBuckets(std::vector<GradientSlot>& slots,
                                        const std::vector<std::size_t>& order,
                                        std::int64_t firstBytes, std::int64_t bytes);

}  // namespace steptape::detail
