// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>

namespace steptape::detail::server {

/// An array of numbers that grows by an eighth: std::vector doubles, which wastes a third of the
/// memory of millions of points. realloc() moves a large array without copying it.
///
/// @threads Not thread-safe: one thread at a time, or several that only read.
template <typename T>
class GrowingColumn {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  std::size_t size() const { return size_; }
  /// Returns the memory in use, with room for later numbers.
  std::size_t bytes() const { return capacity_ * sizeof(T); }
  const T& operator[](std::size_t i) const { return data_.get()[i]; }
  /// Returns the numbers one after the other; null if there were never any.
  const T* data() const { return data_.get(); }
  const T& back() const { return data_.get()[size_ - 1]; }

  /// @throws std::bad_alloc
  void append(T value) {
    if (size_ == capacity_) {
      makeRoom(kLeastRoom);
    }
    data_.get()[size_++] = value;
  }

  /// Makes room for `count` more numbers. @throws std::bad_alloc
  void makeRoom(std::size_t count) {
    if (count > capacity_ - size_) {
      reserve(std::max(size_ + count, size_ + size_ / 8));
    }
  }

  /// @throws std::bad_alloc
  void reserve(std::size_t capacity) {
    if (capacity <= capacity_) {
      return;
    }
    if (capacity > static_cast<std::size_t>(-1) / sizeof(T)) {
      throw std::bad_alloc();
    }
    void* const moved = std::realloc(data_.get(), capacity * sizeof(T));
    if (moved == nullptr) {
      throw std::bad_alloc();
    }
    static_cast<void>(data_.release());
    data_.reset(static_cast<T*>(moved));
    capacity_ = capacity;
  }

  /// Keeps the first `size` numbers. REQUIRES: there are so many.
  void truncate(std::size_t size) { size_ = size; }

  /// Frees everything.
  void clear() {
    data_.reset();
    size_ = 0;
    capacity_ = 0;
  }

 private:
  static constexpr std::size_t kLeastRoom = 8;

  struct Free {
    void operator()(T* data) const { std::free(data); }
  };

  std::unique_ptr<T, Free> data_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace steptape::detail::server
