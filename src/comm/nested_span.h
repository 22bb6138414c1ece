// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "span/thread_recorder.h"

namespace steptape::detail {

/// What a SpanKind::kWait of ours is called.
inline constexpr char kWaitForRanks[] = "wait for ranks";

/// A span of the scope that it lives in.
///
/// @threads Lives and dies on one thread.
/// @cost    One relaxed load and a branch while no profiler records.
class NestedSpan {
 public:
  /// @param name As for beginSpan().
  NestedSpan(SpanKind kind, const char* name) noexcept
      : isRecorded_(beginSpan(kind, name, 0, SpanRecord::kNoPayload, this)) {}
  ~NestedSpan() {
    if (isRecorded_) {
      endSpan(this);
    }
  }
  NestedSpan(const NestedSpan&) = delete;
  NestedSpan& operator=(const NestedSpan&) = delete;

 private:
  const bool isRecorded_;
};

}  // namespace steptape::detail
