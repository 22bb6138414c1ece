// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "steptape/base/export.h"
#include "steptape/log/scalar.h"
#include "steptape/values/tensor_view.h"

#include <ATen/core/TensorBody.h>

namespace steptape {

/// Lets every call that takes a TensorView take an at::Tensor.
///
///     writer.addHistogram("fc1/weight", model->fc1->weight, step);
///     writer.addImage("sample", batch[0], step);
///
/// Autograd is not involved: a tensor that requires a gradient is viewed like any other.
template <>
struct STEPTAPE_EXPORT TensorTraits<at::Tensor> {
  /// Returns a view that keeps the tensor's memory alive, with the tensor's strides and element
  /// type.
  ///
  /// @throws Error(kInvalidArgument) if the tensor is undefined, or DType has no such element type,
  ///         such as complex64; the message names it.
  /// @threads Thread-safe while no thread writes to the tensor.
  /// @cost   Independent of the size for a strided tensor in main memory: no copy. For a strided
  ///         tensor on another device, a copy to page-locked memory is queued after the work that
  ///         this thread has queued there, and the view is in flight: the background thread waits
  ///         for the copy, the caller does not. A sparse, quantized, mkldnn or lazily negated
  ///         tensor is first made dense in a copy, and the caller waits for it.
  static TensorView view(const at::Tensor& tensor);
};

/// Lets addScalar() and StepBatch::add() take a tensor of one element, such as a loss.
template <>
struct STEPTAPE_EXPORT ScalarTraits<at::Tensor> {
  /// Returns the value of the only element.
  ///
  /// @throws Error(kInvalidArgument) naming the shape if the tensor does not have exactly one
  ///         element, or the element type if it is complex.
  /// @threads Thread-safe while no thread writes to the tensor.
  /// @cost   On a device other than the CPU, waits for the work queued there.
  static double value(const at::Tensor& tensor);

  /// Returns the value in flight from a device; nothing for a tensor in main memory.
  ///
  /// @throws Error as for value(); also Error(kInvalidArgument) if DType has no such element type.
  /// @cost   Queues one copy of one element; see TensorTraits<at::Tensor>::view().
  static std::optional<TensorView> inFlight(const at::Tensor& tensor);
};

}  // namespace steptape
