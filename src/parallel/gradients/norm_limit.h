// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <vector>

#include "steptape/comm/communicator.h"

#include <ATen/core/Tensor.h>

namespace steptape::detail {

/// The square of the Euclidean norm of all gradients together, which every rank has. That of the
/// root, since threads add up in an order of their own, and ranks may have different numbers of
/// them. Collective.
double sumOfSquares(const std::vector<at::Tensor>& gradients, Communicator& world);

/// Keeps the Euclidean norm of all gradients within GradientSyncOptions::maxNorm.
///
/// @source torch.nn.utils.clip_grad_norm_ of LibTorch 2.13, with its 1e-6.
class NormLimit {
 public:
  /// @param maxNorm 0: no limit.
  explicit NormLimit(double maxNorm) : maxNorm_(maxNorm) {}

  bool isSet() const { return maxNorm_ > 0; }
  /// What factorFor() saw last; NaN before that.
  double norm() const { return norm_; }

  /// What to multiply gradients with whose squares add up to this. REQUIRES: isSet().
  double factorFor(double sumOfSquares);

 private:
  double maxNorm_;
  double norm_ = std::numeric_limits<double>::quiet_NaN();
};

/// Nothing to do for a factor of 1.
void multiply(const std::vector<at::Tensor>& gradients, double factor);

}  // namespace steptape::detail
