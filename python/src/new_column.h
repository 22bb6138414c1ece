// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdlib>
#include <limits>
#include <memory>
#include <new>
#include <sys/mman.h>

namespace steptape::python {
namespace detail {

constexpr std::size_t kHugePageBytes = std::size_t{2} << 20;

/// Allocates `bytes`, in large pages if they are faster: allocating small pages takes a third of
/// the time to fill them.
inline void* allocateNumbers(std::size_t bytes) {
  const bool isLarge = bytes >= 2 * kHugePageBytes;
  const std::size_t alignment = isLarge ? kHugePageBytes : alignof(std::max_align_t);
  void* memory = nullptr;
  if (::posix_memalign(&memory, alignment, bytes + (bytes == 0 ? 1 : 0)) != 0) {
    throw std::bad_alloc();
  }
  if (isLarge) {
    ::madvise(memory, bytes, MADV_HUGEPAGE);  // only a hint: if it fails, pages are small
  }
  return memory;
}

}  // namespace detail

struct FreeNumbers {
  void operator()(void* numbers) const noexcept { std::free(numbers); }
};

/// A column of numbers, all of which are written before they are read.
template <typename T>
using NewColumn = std::unique_ptr<T[], FreeNumbers>;

/// @throws std::bad_alloc if there is not enough memory.
template <typename T>
NewColumn<T> newColumn(std::size_t count) {
  if (count > std::numeric_limits<std::size_t>::max() / sizeof(T)) {
    throw std::bad_alloc();
  }
  return NewColumn<T>(static_cast<T*>(detail::allocateNumbers(count * sizeof(T))));
}

}  // namespace steptape::python
