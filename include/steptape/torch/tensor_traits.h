// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "steptape/base/export.h"
#include "steptape/summary/tensor_view.h"
#include "steptape/writer/scalar_traits.h"

#include <ATen/core/TensorBody.h>

namespace steptape {

/// Lets every call that takes a TensorView take an at::Tensor.
///
///     writer.addHistogram("fc1/weight", model->fc1->weight, step);
///     writer.addImage("sample", batch[0], step);
///
/// Autograd is left out of it: a tensor that requires a gradient is viewed like any other.
template <>
struct STEPTAPE_EXPORT TensorTraits<at::Tensor> {
  /// @return a view that keeps the tensor's memory alive, strides and element type as they are.
  /// @throws Error(kInvalidArgument) if the tensor is undefined, or its element type is none of
  ///         DType's, such as complex64; the message names it.
  /// @threads Thread-safe, as long as nobody writes to the tensor.
  /// @cost    None that depends on the size for a strided tensor in main memory: no copy. A tensor
  ///          on another device is copied to main memory, which waits for the work queued on it; a
  ///          sparse, quantised, mkldnn or lazily negated one is first made dense, in a copy.
  static TensorView view(const at::Tensor& tensor);
};

/// Lets addScalar() and StepBatch::add() take a tensor of one element, such as a loss.
template <>
struct STEPTAPE_EXPORT ScalarTraits<at::Tensor> {
  /// @throws Error(kInvalidArgument) naming the shape if the tensor has not exactly one element,
  ///         or the element type if it is complex.
  /// @threads Thread-safe, as long as nobody writes to the tensor.
  /// @cost    On another device than the CPU this waits for the work queued there.
  static double value(const at::Tensor& tensor);
};

}  // namespace steptape
