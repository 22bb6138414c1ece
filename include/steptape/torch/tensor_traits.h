// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "steptape/base/export.h"
#include "steptape/summary/tensor_view.h"
#include "steptape/writer/scalar.h"

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
  /// @cost    None that depends on the size for a strided tensor in main memory: no copy. Of a
  ///          strided tensor on another device a copy to page-locked memory is queued behind the
  ///          work that this thread has queued there, and the view is in flight: the background
  ///          thread waits for it, the caller does not. A sparse, quantized, mkldnn or lazily
  ///          negated tensor is made dense first, in a copy, and waited for.
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

  /// The value on its way from a device; nothing for a tensor in main memory.
  ///
  /// @throws As value(); also Error(kInvalidArgument) for an element type that is none of DType's.
  /// @cost   Queues one copy of one element; see TensorTraits<at::Tensor>::view().
  static std::optional<TensorView> inFlight(const at::Tensor& tensor);
};

}  // namespace steptape
