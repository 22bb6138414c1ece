// SPDX-License-Identifier: Apache-2.0
#include "parallel/gradients/norm_limit.h"

#include <algorithm>
#include <cmath>

namespace steptape::detail {

double sumOfSquares(const std::vector<at::Tensor>& gradients, Communicator& world) {
  double total = 0;
  for (const at::Tensor& gradient : gradients) {
    const at::Tensor values = gradient.is_sparse() ? gradient.coalesce().values() : gradient;
    const double norm = values.norm().item<double>();
    total += norm * norm;
  }
  world.broadcast(&total, sizeof(total), 0);
  return total;
}

double NormLimit::factorFor(double sumOfSquares) {
  norm_ = std::sqrt(sumOfSquares);
  return std::min(1.0, maxNorm_ / (norm_ + 1e-6));
}

void multiply(const std::vector<at::Tensor>& gradients, double factor) {
  if (factor == 1) {
    return;
  }
  for (const at::Tensor& gradient : gradients) {
    gradient.mul_(factor);
  }
}

}  // namespace steptape::detail
