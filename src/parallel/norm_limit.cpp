// SPDX-License-Identifier: Apache-2.0
#include "parallel/norm_limit.h"

#include <algorithm>
#include <cmath>

namespace steptape::detail {

double sumOfSquares(const at::Tensor& tensor) {
  const at::Tensor values = tensor.is_sparse() ? tensor.coalesce().values() : tensor;
  const double norm = values.norm().item<double>();
  return norm * norm;
}

double NormLimit::factorFor(double sumOfSquares) {
  norm_ = std::sqrt(sumOfSquares);
  return std::min(1.0, maxNorm_ / (norm_ + 1e-6));
}

void NormLimit::apply(const std::vector<at::Tensor>& gradients) {
  if (!isSet()) {
    return;
  }
  double squares = 0;
  for (const at::Tensor& gradient : gradients) {
    squares += sumOfSquares(gradient);
  }
  multiply(gradients, factorFor(squares));
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
