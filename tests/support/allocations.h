// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>

// Counts the allocations of a test program, and makes allocations fail. A program with
// allocations.cpp among its sources uses its operator new. Sanitizers have their own, so such
// programs are not built with them.

namespace steptape {

/// Returns the number of allocations of the calling thread.
std::uint64_t allocationsOfThread();

/// Returns the bytes that the program has allocated and not freed.
std::size_t bytesInUse();
/// Returns the maximum of bytesInUse() since the last forgetMostBytesInUse().
std::size_t mostBytesInUse();
void forgetMostBytesInUse();

/// Makes allocations of all threads throw std::bad_alloc for a while.
///
/// Only one object may exist at a time.
class FailingAllocations {
 public:
  static constexpr std::uint64_t kUntilTheEnd = ~std::uint64_t{0} >> 1;

  /// Lets `first` allocations succeed, the next `count` fail, and the rest succeed.
  explicit FailingAllocations(std::uint64_t first, std::uint64_t count = 1);
  FailingAllocations(const FailingAllocations&) = delete;
  FailingAllocations& operator=(const FailingAllocations&) = delete;
  ~FailingAllocations() { stop(); }

  /// Lets all allocations succeed again.
  /// @return how many have failed.
  std::uint64_t stop();
};

struct NoError {};

/// Returns whether `call` returns; not if memory runs out in it, or if it throws an `Accepted`.
template <typename Accepted = NoError, typename Call>
bool attempt(const Call& call) {
  try {
    call();
    return true;
  } catch (const std::bad_alloc&) {
  } catch (const Accepted&) {
  }
  return false;
}

}  // namespace steptape
