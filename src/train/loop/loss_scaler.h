// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "steptape/train/trainer_options.h"

#include <ATen/core/Tensor.h>

namespace steptape::detail::train {

/// Scales the loss, unscales the gradients, and adapts the scale.
///
/// @threads Not thread-safe: one thread at a time.
class LossScaler {
 public:
  /// @throws Error(kInvalidArgument) with an option that is out of range.
  explicit LossScaler(const LossScaleOptions& options);

  double scale() const { return scale_; }
  std::int64_t stepsSinceInfinity() const { return stepsSinceInfinity_; }
  void restore(double scale, std::int64_t stepsSinceInfinity) {
    scale_ = scale;
    stepsSinceInfinity_ = stepsSinceInfinity;
  }

  /// Divides the gradients by the scale and adapts it for the next step.
  ///
  /// @return false if a gradient is infinite or NaN: the optimizer must not make a step.
  bool unscale(const std::vector<at::Tensor>& parameters);

 private:
  LossScaleOptions options_;
  double scale_;
  std::int64_t stepsSinceInfinity_ = 0;
};

}  // namespace steptape::detail::train
