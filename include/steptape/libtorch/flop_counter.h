// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "steptape/base/export.h"

namespace steptape {

/// Counts the floating-point operations that LibTorch's operators make on this thread while it
/// lives. Operators of backward() count, also on the threads on which autograd runs them.
///
///     steptape::FlopCounter counter;
///     model->forward(images).sum().backward();
///     std::int64_t flops = counter.flops();
///
/// A multiplication and an addition are two operations. Matrix products, convolutions and fused
/// attention count, forward and backward; all other operators count as 0, as do fused recurrent
/// layers and kernels that are not operators. The number follows from the shapes of the inputs, so
/// it is exact and the same on every device. Causal attention counts all pairs.
///
/// Operators in an inner counter's lifetime are added to the outer counter when the inner one ends.
///
/// @threads Not thread-safe: construction, flops() and destruction on one thread. Counters of
///         different threads are independent.
/// @cost   About 1 µs per operator while it lives, nothing otherwise.
/// @source torch.utils.flop_counter.FlopCounterMode counts the same, except for the gradient of the
///         weight of a convolution with G groups, which it counts G times.
class STEPTAPE_EXPORT FlopCounter {
 public:
  FlopCounter();
  ~FlopCounter();
  FlopCounter(const FlopCounter&) = delete;
  FlopCounter& operator=(const FlopCounter&) = delete;

  /// Returns the operations since construction.
  std::int64_t flops() const;

 private:
  class Impl;

  std::unique_ptr<Impl> impl_;
};

}  // namespace steptape
