// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <type_traits>
#include <vector>

namespace steptape {

/// A view of `size` contiguous elements that it does not own, as std::span in C++20.
///
/// @threads Thread-compatible: const methods may run concurrently.
template <typename T>
class ArrayView {
 public:
  constexpr ArrayView() = default;
  constexpr ArrayView(T* data, std::size_t size) : data_(data), size_(size) {}
  template <std::size_t N>
  constexpr ArrayView(T (&array)[N])  // NOLINT(google-explicit-constructor)
      : data_(array), size_(N) {}
  template <typename Container, typename = std::enable_if_t<std::is_convertible_v<
                                    decltype(std::declval<Container&>().data()), T*>>>
  constexpr ArrayView(Container& container)  // NOLINT(google-explicit-constructor)
      : data_(container.data()), size_(container.size()) {}

  constexpr T* data() const { return data_; }
  constexpr std::size_t size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr T& operator[](std::size_t i) const { return data_[i]; }
  constexpr T* begin() const { return data_; }
  constexpr T* end() const { return data_ + size_; }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace steptape
