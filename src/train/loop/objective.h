// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "steptape/train/batch_loader.h"
#include "steptape/train/trainer_options.h"

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

namespace steptape::detail::train {

/// A model's result for a batch.
struct Outcome {
  at::Tensor output;
  at::Tensor loss;
};

/// The function to minimize: the model's forward pass and the loss, on the run's device and in its
/// precision.
///
/// @threads Not thread-safe: one thread at a time.
class Objective {
 public:
  using Forward = std::function<at::Tensor(const at::Tensor&)>;

  /// @throws Error(kInvalidArgument) if the device does not support the precision.
  Objective(Forward forward, LossFunction loss, Precision precision, c10::Device device);

  Outcome operator()(const Batch& batch) const;

  c10::Device device() const { return device_; }

  /// Copies the batch to the device, unless it is there.
  void toDevice(Batch& batch) const;

 private:
  Forward forward_;
  LossFunction loss_;
  Precision precision_;
  c10::Device device_;
};

}  // namespace steptape::detail::train
