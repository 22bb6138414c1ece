// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <new>
#include <type_traits>
#include <vector>

#include "steptape/base/export.h"

namespace steptape {
namespace detail {

class ColumnMemory;

/// Memory for a column, from `memory` if it has room, else from the heap.
///
/// @param memory May be null.
/// @throws std::bad_alloc if there is none.
STEPTAPE_EXPORT void* allocateColumn(ColumnMemory* memory, std::size_t bytes);

/// @param column What allocateColumn() gave for the same `memory` and `bytes`.
STEPTAPE_EXPORT void freeColumn(ColumnMemory* memory, void* column, std::size_t bytes) noexcept;

/// The allocator of Column. A copy of a column has memory of its own.
template <typename T>
struct ColumnAllocator {
  using value_type = T;
  using propagate_on_container_move_assignment = std::true_type;
  using propagate_on_container_swap = std::true_type;

  ColumnAllocator() = default;
  explicit ColumnAllocator(ColumnMemory* columnMemory) : memory(columnMemory) {}
  template <typename U>
  ColumnAllocator(const ColumnAllocator<U>& other) : memory(other.memory) {}
  ColumnAllocator select_on_container_copy_construction() const { return ColumnAllocator(); }

  T* allocate(std::size_t count) {
    if (count > static_cast<std::size_t>(-1) / sizeof(T)) {
      throw std::bad_alloc();
    }
    return static_cast<T*>(allocateColumn(memory, count * sizeof(T)));
  }
  void deallocate(T* column, std::size_t count) noexcept {
    freeColumn(memory, column, count * sizeof(T));
  }

  ColumnMemory* memory = nullptr;  ///< Outlives the column.
};

template <typename T, typename U>
bool operator==(const ColumnAllocator<T>& a, const ColumnAllocator<U>& b) {
  return a.memory == b.memory;
}
template <typename T, typename U>
bool operator!=(const ColumnAllocator<T>& a, const ColumnAllocator<U>& b) {
  return !(a == b);
}

}  // namespace detail

/// A vector of millions of numbers that is read beside others of its kind.
template <typename T>
using Column = std::vector<T, detail::ColumnAllocator<T>>;

}  // namespace steptape
