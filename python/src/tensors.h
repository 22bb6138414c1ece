// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "steptape/values/tensor_view.h"

namespace steptape::python {

namespace nb = nanobind;

/// The elements of a Python array, which are not copied.
///
/// @threads Construction and destruction need the GIL; view() does not.
class Tensor {
 public:
  /// Takes any object with DLPack or the buffer protocol whose elements are in main memory.
  ///
  /// @param what For messages: "add_histogram: values".
  /// @throws nb::builtin_exception (TypeError) for other objects and element types.
  Tensor(const char* what, nb::handle array);

  const TensorView& view() const { return view_; }

 private:
  using Array = nb::ndarray<nb::ro, nb::device::cpu>;

  static Array arrayOf(const char* what, nb::handle object);
  static TensorView viewOf(const char* what, const Array& array);

  Array array_;
  TensorView view_;
};

}  // namespace steptape::python
