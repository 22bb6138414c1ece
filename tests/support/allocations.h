// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

// Counts what a test program allocates, and makes allocations fail. A program that has
// allocations.cpp among its sources gets its operator new; sanitizers bring one of their own, so
// that no such program is built with them.

namespace steptape {

/// How many allocations the calling thread has asked for.
std::uint64_t allocationsOfThread();

/// What the program has allocated and not freed.
std::size_t bytesInUse();
/// The most that bytesInUse() was since the last call of forgetMostBytesInUse().
std::size_t mostBytesInUse();
void forgetMostBytesInUse();

/// Makes allocations of all threads throw std::bad_alloc for a while.
///
/// One at a time.
class FailingAllocations {
 public:
  static constexpr std::uint64_t kUntilTheEnd = ~std::uint64_t{0} >> 1;

  /// From now on, `first` allocations succeed, the next `count` fail, and the rest succeed.
  explicit FailingAllocations(std::uint64_t first, std::uint64_t count = 1);
  FailingAllocations(const FailingAllocations&) = delete;
  FailingAllocations& operator=(const FailingAllocations&) = delete;
  ~FailingAllocations() { stop(); }

  /// All succeed from now on. @return how many have failed.
  std::uint64_t stop();
};

}  // namespace steptape
