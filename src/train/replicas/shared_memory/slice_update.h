// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "steptape/base/array_view.h"

namespace steptape::detail::train {

// Sums gradients and updates parameters in one pass over arrays, for a rank that updates its part
// of them. For float and double. Independent of LibTorch, so that it is compiled for several
// instruction sets. All give the same bits: no multiplication is fused with an addition.

/// The sum of several arrays, element by element in order, times `scale`.
template <typename T>
struct ArraySum {
  ArrayView<const T* const> arrays;
  T scale;
};

/// Writes elements [begin, end) of `sum` to each of `results`, which may be the same arrays.
void writeSum(const ArraySum<float>& sum, ArrayView<float* const> results, std::size_t begin,
              std::size_t end);
void writeSum(const ArraySum<double>& sum, ArrayView<double* const> results, std::size_t begin,
              std::size_t end);

/// Returns the sum of squares of `size` elements, in double.
double sumOfSquares(const float* data, std::size_t size);
double sumOfSquares(const double* data, std::size_t size);

/// A step of torch::optim::SGD.
struct SgdUpdate {
  double lr = 0;
  double momentum = 0;
  double dampening = 0;
  double weightDecay = 0;
  bool nesterov = false;
  bool isFirst = false;  ///< No momentum yet: it becomes the gradient.
};

/// Updates elements [begin, end) of `parameters` and, unless it is null, of `momentum`.
///
/// @source torch/csrc/api/src/optim/sgd.cpp of LibTorch 2.13, SGD::step().
void update(const SgdUpdate& step, const ArraySum<float>& gradient, float* parameters,
            float* momentum, std::size_t begin, std::size_t end);
void update(const SgdUpdate& step, const ArraySum<double>& gradient, double* parameters,
            double* momentum, std::size_t begin, std::size_t end);

/// A step of torch::optim::Adam or, with decoupled weight decay, AdamW.
struct AdamUpdate {
  double lr = 0;
  double beta1 = 0;
  double beta2 = 0;
  double eps = 0;
  double weightDecay = 0;
  bool decoupled = false;
  double biasCorrection1 = 1;  ///< 1 - beta1^step.
  double biasCorrection2 = 1;
};

template <typename T>
struct AdamState {
  T* mean;
  T* meanSquare;
  T* maxMeanSquare;  ///< Null without AMSGrad.
};

/// Updates elements [begin, end) of `parameters` and `state`.
///
/// @source torch/csrc/api/src/optim/adam.cpp and adamw.cpp of LibTorch 2.13.
void update(const AdamUpdate& step, const ArraySum<float>& gradient, float* parameters,
            const AdamState<float>& state, std::size_t begin, std::size_t end);
void update(const AdamUpdate& step, const ArraySum<double>& gradient, double* parameters,
            const AdamState<double>& state, std::size_t begin, std::size_t end);

}  // namespace steptape::detail::train
