// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>

#include "steptape/writer/writer_options.h"

namespace steptape {

/// The memory of what a writer has captured or encoded and not written yet, and its bound,
/// WriterOptions::queueBytes.
///
/// @threads Thread-safe. Calls at the same moment may go over the bound by what they bring; nothing
///          is ordered by the counts.
class MemoryBudget {
 public:
  explicit MemoryBudget(const WriterOptions& options);

  /// Makes a call wait for room as far as WriterOptions::overflow says.
  /// @return false if what the call brings is to be dropped.
  bool waitForRoom();

  void addCaptured(std::size_t bytes) { captured_.fetch_add(bytes, std::memory_order_relaxed); }
  void releaseCaptured(std::size_t bytes) { captured_.fetch_sub(bytes, std::memory_order_relaxed); }

  /// A stream keeps `to` bytes because of failures, where it kept `from`.
  void changeBacklog(std::size_t from, std::size_t to) {
    backlog_.fetch_add(to - from, std::memory_order_relaxed);  // wraps round for to < from
  }
  /// Whether what the streams keep because of failures is over the bound by itself.
  bool isBacklogOver() const { return backlog_.load(std::memory_order_relaxed) > limit_; }

 private:
  bool isOver() const;

  const std::size_t limit_;
  const OverflowPolicy overflow_;
  const std::chrono::milliseconds blockTimeout_;
  std::atomic<std::size_t> captured_{0};
  std::atomic<std::size_t> backlog_{0};
  std::atomic<bool> stalled_{false};  // a wait has run out, and no call has found room since
};

}  // namespace steptape
