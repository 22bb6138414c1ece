// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "train/replicas/gradients/gradient_slots.h"

#include <c10/core/Event.h>
#include <c10/core/Stream.h>

namespace steptape::detail::train {

/// Gradients that are sent together: of one element type, on one device.
struct GradientBucket {
  std::string name;                ///< "gradients of bucket 3 (conv1.weight ... fc1.bias)".
  std::vector<std::size_t> slots;  ///< Ascending by offset.
  at::Tensor memory;               ///< Flat; holds the slots' gradients with zeros between them.
  /// The device's stream in which the gradients arrived; none in main memory.
  std::optional<c10::Stream> stream;
  /// Reached when the gradients are in `memory`, for DeviceChain.
  std::shared_ptr<c10::Event> ready;
};

/// Fills buckets with the slots listed in `order`, in this order, and assigns memory to the slots:
/// GradientSlot::array is then the bucket's index.
///
/// @param firstBytes Maximum bytes of the first bucket of each kind; `bytes` for the others. A
///                   larger gradient has a separate bucket.
/// @return buckets in ascending order by the position of their last gradient in `order`.
std::vector<GradientBucket> makeBuckets(std::vector<GradientSlot>& slots,
                                        const std::vector<std::size_t>& order,
                                        std::int64_t firstBytes, std::int64_t bytes);

}  // namespace steptape::detail::train
