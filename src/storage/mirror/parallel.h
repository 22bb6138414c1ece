// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>
#include <system_error>
#include <thread>
#include <vector>

#include "base/mutex.h"

namespace steptape::detail::storage {

/// Calls `work(thread, item)` for each item from 0 to `items` - 1, on up to `threads` threads,
/// which take the next item when they have done one. For work that waits for a network.
///
/// @throws the first exception of `work`; items that were not begun then are left out.
inline void inParallel(std::size_t threads, std::size_t items,
                       const std::function<void(std::size_t thread, std::size_t item)>& work) {
  std::atomic<std::size_t> next{0};
  base::Mutex mutex;
  std::exception_ptr failure;
  const auto run = [&](std::size_t thread) {
    try {
      for (std::size_t item = next++; item < items; item = next++) {
        work(thread, item);
      }
    } catch (...) {
      next = items;
      const base::MutexLock lock(mutex);
      failure = failure ? failure : std::current_exception();
    }
  };
  std::vector<std::thread> others;
  others.reserve(threads);
  try {
    for (std::size_t thread = 1; thread < threads && thread < items; ++thread) {
      others.emplace_back(run, thread);
    }
  } catch (const std::system_error&) {
    // The machine gives no more threads: fewer do the work.
  }
  run(0);
  for (std::thread& other : others) {
    other.join();
  }
  if (failure) {
    std::rethrow_exception(failure);
  }
}

}  // namespace steptape::detail::storage
