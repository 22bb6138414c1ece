// SPDX-License-Identifier: Apache-2.0
#include "support/allocations.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <malloc.h>
#include <new>

namespace {

constexpr std::uint64_t kNever = ~std::uint64_t{0};

thread_local std::uint64_t ofThread = 0;
std::atomic<std::size_t> inUse{0};
std::atomic<std::size_t> most{0};
std::atomic<bool> isCounting{false};
std::atomic<std::uint64_t> asked{0};  // while counting
std::atomic<std::uint64_t> firstToFail{kNever};
std::atomic<std::uint64_t> firstToSucceed{kNever};
std::atomic<std::uint64_t> failed{0};

bool mustFail() {
  if (!isCounting) {
    return false;
  }
  const std::uint64_t number = asked++;
  const bool fails = number >= firstToFail && number < firstToSucceed;
  failed += fails ? 1 : 0;
  return fails;
}

void* noted(void* memory) {
  if (memory == nullptr) {
    throw std::bad_alloc();
  }
  const std::size_t now = inUse += malloc_usable_size(memory);
  for (std::size_t known = most; known < now && !most.compare_exchange_weak(known, now);) {
  }
  return memory;
}

void release(void* memory) {
  inUse -= malloc_usable_size(memory);
  std::free(memory);
}

}  // namespace

// Not inlined: GCC would see one half of a pair and regard it as a mismatch.
[[gnu::noinline]] void* operator new(std::size_t size) {
  ++ofThread;
  return noted(mustFail() ? nullptr : std::malloc(std::max<std::size_t>(size, 1)));
}
[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t alignment) {
  ++ofThread;
  const auto bytes = static_cast<std::size_t>(alignment);
  return noted(mustFail() ? nullptr
                          : std::aligned_alloc(bytes, (size + bytes - 1) / bytes * bytes));
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  release(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
  release(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept {
  release(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  release(memory);
}

namespace steptape {

std::uint64_t allocationsOfThread() {
  return ofThread;
}
std::size_t bytesInUse() {
  return inUse;
}
std::size_t mostBytesInUse() {
  return most;
}
void forgetMostBytesInUse() {
  most = inUse.load();
}

FailingAllocations::FailingAllocations(std::uint64_t first, std::uint64_t count) {
  asked = 0;
  failed = 0;
  firstToFail = first;
  firstToSucceed = first + count;
  isCounting = true;
}

std::uint64_t FailingAllocations::stop() {
  isCounting = false;
  return failed;
}

}  // namespace steptape
