// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "steptape/reader/column.h"

namespace steptape::detail {

/// Large blocks of memory for many columns that grow at the same time.
///
/// What the system gives for one large column begins at the same offset of a page each time, so that
/// the ends of columns which grow alike compete for the same few lines of a cache, and takes small
/// pages, whose faults cost more than decoding the points that fit into them. With ten tags it took
/// 20 ns to append a point to such columns, and 7 ns to columns in one block.
///
/// @threads Not thread-safe: one thread at a time.
class ColumnMemory {
 public:
  ColumnMemory() = default;
  ColumnMemory(const ColumnMemory&) = delete;
  ColumnMemory& operator=(const ColumnMemory&) = delete;
  ~ColumnMemory();

  /// Shorter columns are left to the heap, where they lie at different offsets by themselves.
  static constexpr std::size_t kMinColumnBytes = 64 << 10;

  /// Makes room for `columns` columns of `bytes` in all. Memory that no column touches costs nothing.
  void reserve(std::size_t columns, std::size_t bytes);

  /// @return null if the column is short, or there is no room for it.
  void* allocate(std::size_t bytes);

  /// @return false if `column` does not lie in a block.
  bool free(void* column) noexcept;

 private:
  struct Block {
    char* begin;
    char* end;
    char* next;             ///< Where the next column may begin.
    std::size_t allocated;  ///< Columns so far.
    std::size_t columns;    ///< That lie in the block now.
  };

  void freeUnused() noexcept;

  std::vector<Block> blocks_;  // the last has room
};

}  // namespace steptape::detail
