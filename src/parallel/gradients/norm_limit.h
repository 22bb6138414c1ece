// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <vector>

#include "steptape/comm/communicator.h"

#include <ATen/core/Tensor.h>

namespace steptape::detail {

/// Returns the squared Euclidean norm of all gradients, which every rank has. Returns the root's
/// value on every rank, because the order of additions depends on the number of threads, which may
/// differ between ranks. Collective.
double sumOfSquares(const std::vector<at::Tensor>& gradients, Communicator& world);

/// Limits the Euclidean norm of all gradients to GradientSyncOptions::maxNorm.
///
/// @source torch.nn.utils.clip_grad_norm_ of LibTorch 2.13, with its 1e-6.
class NormLimit {
 public:
  /// @param maxNorm 0: no limit.
  explicit NormLimit(double maxNorm) : maxNorm_(maxNorm) {}

  bool isSet() const { return maxNorm_ > 0; }
  /// Returns the norm at the last factorFor(); NaN before.
  double norm() const { return norm_; }

  /// Returns the factor for gradients with this sum of squares. REQUIRES: isSet().
  double factorFor(double sumOfSquares);

 private:
  double maxNorm_;
  double norm_ = std::numeric_limits<double>::quiet_NaN();
};

/// Multiplies the gradients; does nothing if the factor is 1.
void multiply(const std::vector<at::Tensor>& gradients, double factor);

}  // namespace steptape::detail
