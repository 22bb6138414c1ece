// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>

namespace steptape::detail {

/// The memory of what a run has captured or encoded and not written yet, and its bound,
/// WriterOptions::queueBytes.
///
/// @threads Thread-safe. Calls at the same moment may go over the bound by what they bring; nothing
///          is ordered by the counts.
class MemoryBudget {
 public:
  explicit MemoryBudget(std::size_t limit) : limit_(limit) {}

  void addCaptured(std::size_t bytes) { captured_.fetch_add(bytes, std::memory_order_relaxed); }
  void releaseCaptured(std::size_t bytes) { captured_.fetch_sub(bytes, std::memory_order_relaxed); }

  /// A stream keeps `to` bytes because of failures, where it kept `from`.
  void changeBacklog(std::size_t from, std::size_t to) {
    backlog_.fetch_add(to - from, std::memory_order_relaxed);  // wraps round for to < from
  }

  bool isOver() const {
    return captured_.load(std::memory_order_relaxed) + backlog_.load(std::memory_order_relaxed) >
           limit_;
  }
  /// Whether what the streams keep because of failures is over the bound by itself.
  bool isBacklogOver() const { return backlog_.load(std::memory_order_relaxed) > limit_; }

 private:
  const std::size_t limit_;
  std::atomic<std::size_t> captured_{0};
  std::atomic<std::size_t> backlog_{0};
};

}  // namespace steptape::detail
