// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <cstring>

#include "steptape/log/run_reader.h"

namespace steptape::detail::log {
namespace {

constexpr std::size_t kPageBytes = 4096;
constexpr std::size_t kCacheLineBytes = 64;

// Smaller columns start at different offsets anyway.
constexpr std::size_t kMinBytes = 64 << 10;

/// Returns the offset of the next column in its block: each cache line of a page in turn, after the
/// space for the offset itself.
std::size_t nextOffset() {
  static std::atomic<std::size_t> columns{0};
  constexpr std::size_t kStride = 5 * kCacheLineBytes;  // odd, to reach every line
  const std::size_t number = columns.fetch_add(1, std::memory_order_relaxed);
  return kCacheLineBytes + number * kStride % kPageBytes;
}

}  // namespace

void* allocateColumn(std::size_t bytes) {
  if (bytes < kMinBytes) {
    return ::operator new(bytes);
  }
  const std::size_t offset = nextOffset();
  if (bytes > static_cast<std::size_t>(-1) - offset) {
    throw std::bad_alloc();
  }
  char* const column = static_cast<char*>(::operator new(bytes + offset)) + offset;
  std::memcpy(column - sizeof offset, &offset, sizeof offset);
  return column;
}

void freeColumn(void* column, std::size_t bytes) noexcept {
  std::size_t offset = 0;
  if (bytes >= kMinBytes) {
    std::memcpy(&offset, static_cast<char*>(column) - sizeof offset, sizeof offset);
  }
  ::operator delete(static_cast<char*>(column) - offset);
}

}  // namespace steptape::detail::log
