// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "steptape/ranks/communicator.h"

#include <ATen/core/Tensor.h>

namespace steptape::detail::train {

/// Statistics of the batches, kept for evaluation; undefined tensors: none.
struct RunningStatistics {
  at::Tensor mean;
  at::Tensor variance;
  double momentum = 0;  ///< Weight of the newest batch.
};

/// Normalizes `input` by the mean and variance of all ranks' samples, and updates `running`.
/// Collective, and so is the backward pass.
///
/// @param weight,bias May be undefined.
at::Tensor syncBatchNorm(const at::Tensor& input, const at::Tensor& weight, const at::Tensor& bias,
                         double eps, const RunningStatistics& running,
                         const std::shared_ptr<Communicator>& world);

}  // namespace steptape::detail::train
