// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>

#include "writer/producer.h"
#include "writer/run_context.h"

namespace steptape::detail {

/// Waits, drops or discards when the calling thread's ring or the run's memory is full, as
/// WriterOptions::overflow says.
///
/// @threads Thread-safe.
class Admission {
 public:
  /// @param context Outlives the admission.
  explicit Admission(RunContext* context) : context_(context) {}

  /// Makes room for an entry of `words` in `producer`'s ring, the calling thread's.
  /// @return false if what the call brings is to be dropped.
  bool makeRoom(Producer* producer, std::size_t words);

 private:
  bool waitForMemory();
  bool waitForRing(Producer* producer, std::size_t words) const;
  void discardOldest(ScalarRing* ring);

  RunContext* const context_;
  std::atomic<bool> stalled_{false};  // a wait has run out, and no call has found memory since
};

}  // namespace steptape::detail
