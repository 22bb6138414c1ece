// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "libtorch/tensors/device_copy.h"

#include <ATen/core/Tensor.h>

namespace steptape::detail::train {

/// The loss of a step: the mean of the losses of its batches, which may still be on their way from
/// a device.
///
/// Not thread-safe: one thread at a time.
class StepLoss {
 public:
  /// Adds the loss of a batch: one element. Does not wait for a device.
  void add(const at::Tensor& loss);

  /// Waits until a device has computed it. NaN without batches.
  double value() const;

 private:
  mutable double sum_ = 0;
  std::int64_t batches_ = 0;
  mutable std::vector<libtorch::DeviceCopier::Copy> arriving_;
};

}  // namespace steptape::detail::train
