// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <optional>
#include <vector>

#include "steptape/ranks/communicator.h"

#include <ATen/core/Tensor.h>
#include <c10/core/Event.h>

namespace steptape::detail::train {

/// Returns the squared Euclidean norm of all gradients, which every rank has. Returns the root's
/// value on every rank, because the order of additions depends on the number of threads, which may
/// differ between ranks. Collective.
double sumOfSquares(const std::vector<at::Tensor>& gradients, Communicator& world);

/// Returns the squared Euclidean norm of all gradients of this rank, as one float64 on the device
/// of the first. The host does not wait for it. REQUIRES: `gradients` is not empty.
at::Tensor deviceSumOfSquares(const std::vector<at::Tensor>& gradients);

/// Limits the Euclidean norm of all gradients to GradientSyncOptions::maxNorm.
///
/// @source torch.nn.utils.clip_grad_norm_ of LibTorch 2.13, with its 1e-6.
class NormLimit {
 public:
  /// @param maxNorm 0: no limit.
  explicit NormLimit(double maxNorm) : maxNorm_(maxNorm) {}

  bool isSet() const { return maxNorm_ > 0; }
  /// Returns the norm at the last factorFor(), and waits for it if it is on a device; NaN before.
  double norm() const;

  /// Returns the factor for gradients with this sum of squares. REQUIRES: isSet().
  double factorFor(double sumOfSquares);
  /// As above, for one float64 on a device: the result is there too, and the host does not wait.
  at::Tensor factorFor(const at::Tensor& sumOfSquares);

 private:
  double maxNorm_;
  mutable double norm_ = std::numeric_limits<double>::quiet_NaN();
  at::Tensor arriving_;  // the norm in main memory, valid after the event
  mutable std::optional<c10::Event> arrival_;
};

/// Multiplies the gradients; does nothing if the factor is 1.
void multiply(const std::vector<at::Tensor>& gradients, double factor);
/// Multiplies the gradients by one element on their device; the host does not wait.
void multiply(const std::vector<at::Tensor>& gradients, const at::Tensor& factor);

}  // namespace steptape::detail::train
