// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>

#include "log/writer/producer.h"
#include "log/writer/run_context.h"

namespace steptape::detail::log {

/// Waits, drops or discards if the calling thread's ring or the run's memory is full, according to
/// WriterOptions::overflow.
///
/// @threads Thread-safe.
class OverflowRule {
 public:
  /// @param context Must outlive this object.
  explicit OverflowRule(RunContext* context) : context_(context) {}

  /// Makes room for an entry of `words` in `producer`'s ring, which is the calling thread's.
  /// @return false if the new entry must be dropped.
  bool makeRoom(Producer* producer, std::size_t words);

 private:
  bool waitForMemory();
  bool waitForRing(Producer* producer, std::size_t words) const;
  void discardOldest(ScalarRing* ring);

  RunContext* const context_;
  std::atomic<bool> stalled_{false};  // a wait has timed out and the memory has been full since
};

}  // namespace steptape::detail::log
