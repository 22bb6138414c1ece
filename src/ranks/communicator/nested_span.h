// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "process/spans/thread_recorder.h"

namespace steptape::detail::ranks {

/// Span name of Steptape's own waits, with kind SpanKind::kWait.
inline constexpr char kWaitForRanks[] = "wait for ranks";

/// Records the scope that it lives in as a span.
///
/// @threads Construct and destroy it on one thread.
/// @cost    One relaxed load and a branch while no profiler records.
class NestedSpan {
 public:
  /// @param name As for beginSpan().
  NestedSpan(SpanKind kind, const char* name) noexcept
      : isRecorded_(process::beginSpan(kind, name, 0, SpanRecord::kNoPayload, this)) {}
  ~NestedSpan() {
    if (isRecorded_) {
      process::endSpan(this);
    }
  }
  NestedSpan(const NestedSpan&) = delete;
  NestedSpan& operator=(const NestedSpan&) = delete;

 private:
  const bool isRecorded_;
};

}  // namespace steptape::detail::ranks
