// SPDX-License-Identifier: Apache-2.0
#include "reader/column_memory.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <sys/mman.h>

namespace steptape::detail {
namespace {

constexpr std::size_t kHugePageBytes = 2 << 20;
constexpr std::size_t kPageBytes = 4096;
constexpr std::size_t kCacheLineBytes = 64;

/// So far into a page begins the `number`-th column: caches tell its lines apart.
std::size_t placeOf(std::size_t number) {
  constexpr std::size_t kStride = 5 * kCacheLineBytes;  // odd, so that all lines have their turn
  return number * kStride % kPageBytes;
}

std::size_t roundedUp(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

/// Asks for large pages. It is only advice: that it fails means that there are none.
void adviseHugePages(char* block, std::size_t bytes) {
#ifdef MADV_HUGEPAGE
  static_cast<void>(madvise(block, bytes, MADV_HUGEPAGE));
#else
  static_cast<void>(block);
  static_cast<void>(bytes);
#endif
}

}  // namespace

ColumnMemory::~ColumnMemory() {
  for (const Block& block : blocks_) {
    std::free(block.begin);
  }
}

void ColumnMemory::reserve(std::size_t columns, std::size_t bytes) {
  freeUnused();
  blocks_.reserve(blocks_.size() + 1);
  const std::size_t size = roundedUp(bytes + columns * 2 * kPageBytes, kHugePageBytes);
  auto* const begin = static_cast<char*>(std::aligned_alloc(kHugePageBytes, size));
  if (begin != nullptr) {
    adviseHugePages(begin, size);
    blocks_.push_back({begin, begin + size, begin, 0, 0});
  }
}

void* ColumnMemory::allocate(std::size_t bytes) {
  if (blocks_.empty() || bytes < kMinColumnBytes) {
    return nullptr;
  }
  Block& block = blocks_.back();
  const auto used = static_cast<std::size_t>(block.next - block.begin);
  const std::size_t offset = roundedUp(used, kPageBytes) - used + placeOf(block.allocated);
  const auto left = static_cast<std::size_t>(block.end - block.next);
  if (offset > left || bytes > left - offset) {
    return nullptr;
  }
  char* const column = block.next + offset;
  block.next = column + bytes;
  ++block.allocated;
  ++block.columns;
  return column;
}

bool ColumnMemory::free(void* column) noexcept {
  for (Block& block : blocks_) {
    if (column >= block.begin && column < block.end) {
      --block.columns;
      freeUnused();
      return true;
    }
  }
  return false;
}

/// Frees blocks that hold no column.
void ColumnMemory::freeUnused() noexcept {
  const auto unused = std::stable_partition(blocks_.begin(), blocks_.end(),
                                            [](const Block& block) { return block.columns > 0; });
  std::for_each(unused, blocks_.end(), [](const Block& block) { std::free(block.begin); });
  blocks_.erase(unused, blocks_.end());
}

void* allocateColumn(ColumnMemory* memory, std::size_t bytes) {
  void* const column = memory != nullptr ? memory->allocate(bytes) : nullptr;
  return column != nullptr ? column : ::operator new(bytes);
}

void freeColumn(ColumnMemory* memory, void* column, std::size_t /*bytes*/) noexcept {
  if (memory == nullptr || !memory->free(column)) {
    ::operator delete(column);
  }
}

}  // namespace steptape::detail
