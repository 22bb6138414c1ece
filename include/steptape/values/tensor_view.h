// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "steptape/base/dtype.h"
#include "steptape/base/export.h"

namespace steptape {

/// The arrival of elements in main memory, such as the end of a queued copy from a GPU.
class STEPTAPE_EXPORT TensorArrival {
 public:
  virtual ~TensorArrival();
  /// Waits until the elements have arrived. May be called any number of times; the writer calls it
  /// only on its background thread.
  ///
  /// @throws std::exception with the reason if the elements will never arrive: the value is then
  ///         discarded, counted and reported through WriterOptions::onError.
  /// @threads Thread-safe.
  virtual void wait() = 0;
};

/// Lets every call that takes a TensorView take a tensor type of another library: specialize it
/// with `static TensorView view(const T&)`. The `owner` of the view keeps the elements alive.
template <typename T>
struct TensorTraits;

/// A strided view of a dense tensor in main memory.
///
/// Does not own its elements. Every `addX` has copied the elements that it needs when it returns:
/// the caller may then change or free the tensor.
///
/// @threads Thread-compatible: const methods may run concurrently.
class STEPTAPE_EXPORT TensorView {
 public:
  /// Views a contiguous row-major tensor of `shape`.
  template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T>>>
  TensorView(const T* data, std::vector<std::int64_t> shape)
      : TensorView(data, dtypeOf<T>(), std::move(shape), {}) {}

  /// Views a strided tensor; `strides` in elements, one per dimension, possibly 0 or negative.
  template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T>>>
  TensorView(const T* data, std::vector<std::int64_t> shape, std::vector<std::int64_t> strides)
      : TensorView(data, dtypeOf<T>(), std::move(shape), std::move(strides)) {}

  /// Views a tensor whose element type is known only at run time.
  ///
  /// @param data    The first element.
  /// @param dtype   The element type.
  /// @param shape   The size of each dimension.
  /// @param strides In elements; empty: contiguous and row-major.
  /// @param owner   Lives as long as the view and its copies, for traits that had to copy.
  /// @param arrival Set if the elements are not at `data` yet. `owner` must then own that memory,
  ///                and only `arrival` may write to it.
  /// @throws Error(kInvalidArgument) if a dimension is negative, if there are more than 2^63 - 1
  ///         elements, if `strides` is neither empty nor as long as `shape`, or if `data` is null
  ///         while the tensor has elements.
  TensorView(const void* data, DType dtype, std::vector<std::int64_t> shape,
             std::vector<std::int64_t> strides, std::shared_ptr<const void> owner = nullptr,
             std::shared_ptr<TensorArrival> arrival = nullptr);

  /// Views a vector of numbers as a tensor of rank 1.
  template <typename T,
            typename = std::enable_if_t<std::is_arithmetic_v<T> && !std::is_same_v<T, bool>>>
  TensorView(const std::vector<T>& values)  // NOLINT(google-explicit-constructor)
      : TensorView(values.data(), {static_cast<std::int64_t>(values.size())}) {}

  /// Views any type with TensorTraits, such as at::Tensor with `<steptape/torch.h>`.
  template <typename T, typename = decltype(TensorTraits<T>::view(std::declval<const T&>()))>
  TensorView(const T& tensor)  // NOLINT(google-explicit-constructor)
      : TensorView(TensorTraits<T>::view(tensor)) {}

  const void* data() const noexcept { return data_; }
  DType dtype() const noexcept { return dtype_; }
  const std::vector<std::int64_t>& shape() const noexcept { return shape_; }
  const std::vector<std::int64_t>& strides() const noexcept { return strides_; }
  std::size_t rank() const noexcept { return shape_.size(); }
  /// Returns the number of elements, the product of the shape; 1 for rank 0.
  std::int64_t numel() const noexcept { return numel_; }
  /// Returns the bytes of the elements in a dense layout, whatever the strides are.
  std::size_t nbytes() const noexcept {
    return static_cast<std::size_t>(numel_) * dtypeSize(dtype_);
  }
  bool isContiguous() const noexcept { return contiguous_; }
  /// Returns the shape as text, such as "(3, 28, 28)".
  std::string shapeString() const;

  /// Returns whether the elements may arrive only during waitForElements(). Shape and element type
  /// are always known, so that calls can check them at once.
  bool isInFlight() const noexcept { return arrival_ != nullptr; }
  /// Waits for the elements of a view in flight, as TensorArrival::wait(); else returns at once.
  void waitForElements() const;
  /// Returns the only element. REQUIRES: there is exactly one, and it is in memory.
  double element() const;
  /// Returns a contiguous view that owns a copy of the elements. REQUIRES: they are in memory.
  TensorView copy() const;

 private:
  const void* data_;
  DType dtype_;
  std::vector<std::int64_t> shape_;
  std::vector<std::int64_t> strides_;
  std::int64_t numel_;
  bool contiguous_;
  std::shared_ptr<const void> owner_;
  std::shared_ptr<TensorArrival> arrival_;
};

}  // namespace steptape
