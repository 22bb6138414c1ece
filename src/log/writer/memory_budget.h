// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>

namespace steptape::detail::log {

/// Counts the memory of data that a run has captured or encoded and not yet written. Its limit is
/// WriterOptions::queueBytes.
///
/// @threads Thread-safe. Concurrent calls may exceed the limit by their own data; the counts do not
///          order other memory accesses.
class MemoryBudget {
 public:
  explicit MemoryBudget(std::size_t limit) : limit_(limit) {}

  void addCaptured(std::size_t bytes) { captured_.fetch_add(bytes, std::memory_order_relaxed); }
  void releaseCaptured(std::size_t bytes) { captured_.fetch_sub(bytes, std::memory_order_relaxed); }

  /// Records that a stream now keeps `to` bytes because of failures, instead of `from`.
  void changeBacklog(std::size_t from, std::size_t to) {
    backlog_.fetch_add(to - from, std::memory_order_relaxed);  // wraps around if to < from
  }

  bool isOver() const {
    return captured_.load(std::memory_order_relaxed) + backlog_.load(std::memory_order_relaxed) >
           limit_;
  }
  /// Returns whether the data kept because of failures alone exceeds the limit.
  bool isBacklogOver() const { return backlog_.load(std::memory_order_relaxed) > limit_; }

 private:
  const std::size_t limit_;
  std::atomic<std::size_t> captured_{0};
  std::atomic<std::size_t> backlog_{0};
};

}  // namespace steptape::detail::log
