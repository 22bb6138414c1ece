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

/// Elements that are on their way into main memory, such as a copy from a GPU that was queued.
class STEPTAPE_EXPORT TensorArrival {
 public:
  virtual ~TensorArrival();
  /// Returns once the elements are there; any number of times. The writer calls it on its
  /// background thread only.
  ///
  /// @throws std::exception if they will never come, saying why: the value is then dropped, counted
  ///         and told to WriterOptions::onError.
  /// @threads Thread-safe.
  virtual void wait() = 0;
};

/// Specialize for a tensor type of another library to let every call that takes a TensorView take
/// that type too: `static TensorView view(const T&)`. The view's `owner` keeps alive what it needs.
template <typename T>
struct TensorTraits;

/// A strided view of a dense tensor in main memory.
///
/// Does not own its elements: every `addX` has taken what it needs when it returns, so temporaries
/// and tensors that the next step changes are safe.
///
/// @threads Thread-compatible: const methods may run concurrently.
class STEPTAPE_EXPORT TensorView {
 public:
  /// A contiguous row-major tensor of `shape`.
  template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T>>>
  TensorView(const T* data, std::vector<std::int64_t> shape)
      : TensorView(data, dtypeOf<T>(), std::move(shape), {}) {}

  /// A strided tensor; `strides` in elements, possibly 0 or negative, one per dimension.
  template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T>>>
  TensorView(const T* data, std::vector<std::int64_t> shape, std::vector<std::int64_t> strides)
      : TensorView(data, dtypeOf<T>(), std::move(shape), std::move(strides)) {}

  /// A tensor whose type is known at run time only.
  ///
  /// @param strides In elements; empty means contiguous and row-major.
  /// @param owner   Kept as long as the view or a copy of it: for traits that had to make a copy.
  /// @param arrival Where the elements are not at `data` yet; then `owner` must own that memory,
  ///                and nobody but `arrival` may write to it.
  /// @throws Error(kInvalidArgument) if a dimension is negative, or `strides` is neither empty nor
  ///         as long as `shape`, or `data` is null while the tensor has elements.
  TensorView(const void* data, DType dtype, std::vector<std::int64_t> shape,
             std::vector<std::int64_t> strides, std::shared_ptr<const void> owner = nullptr,
             std::shared_ptr<TensorArrival> arrival = nullptr);

  /// A vector of numbers is a tensor of rank 1.
  template <typename T,
            typename = std::enable_if_t<std::is_arithmetic_v<T> && !std::is_same_v<T, bool>>>
  TensorView(const std::vector<T>& values)  // NOLINT(google-explicit-constructor)
      : TensorView(values.data(), {static_cast<std::int64_t>(values.size())}) {}

  /// Any type with TensorTraits, such as at::Tensor once <steptape/torch.h> is included.
  template <typename T, typename = decltype(TensorTraits<T>::view(std::declval<const T&>()))>
  TensorView(const T& tensor)  // NOLINT(google-explicit-constructor)
      : TensorView(TensorTraits<T>::view(tensor)) {}

  const void* data() const noexcept { return data_; }
  DType dtype() const noexcept { return dtype_; }
  const std::vector<std::int64_t>& shape() const noexcept { return shape_; }
  const std::vector<std::int64_t>& strides() const noexcept { return strides_; }
  std::size_t rank() const noexcept { return shape_.size(); }
  /// Product of the shape; 1 for rank 0.
  std::int64_t numel() const noexcept { return numel_; }
  /// Bytes that the elements take when they are laid out densely, whatever the strides are.
  std::size_t nbytes() const noexcept {
    return static_cast<std::size_t>(numel_) * dtypeSize(dtype_);
  }
  bool isContiguous() const noexcept { return contiguous_; }
  /// The shape as people write it: "(3, 28, 28)".
  std::string shapeString() const;

  /// Whether the elements may not be in memory before waitForElements(). Shape and element type
  /// are known in any case, so that mistakes in them are the caller's errors all the same.
  bool isInFlight() const noexcept { return arrival_ != nullptr; }
  /// Returns at once for a view that is not in flight; else as TensorArrival::wait().
  void waitForElements() const;
  /// The only element. REQUIRES: there is one, and it is in memory.
  double element() const;
  /// A contiguous view that owns a copy of the elements. REQUIRES: they are in memory.
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
