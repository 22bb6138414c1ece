// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "steptape/base/array_view.h"
#include "steptape/process/zone.h"

namespace steptape::detail::profile {

/// Measures the time in which at least one thread was inside a recorded span.
///
/// Exact up to 65,536 gaps between spans. If there are more, the oldest gaps are final: a span that
/// ends later no longer fills them.
///
/// @threads Not thread-safe: one thread at a time.
class Coverage {
 public:
  /// @param records Of one thread, in the order in which the spans ended.
  void add(ArrayView<const SpanRecord> records, std::uint64_t windowStartTicks);

  std::uint64_t ticks() const;

 private:
  struct Interval {
    std::uint64_t start;
    std::uint64_t end;
  };

  void mergeFound();

  std::vector<Interval> intervals_;  // disjoint, by time
  std::vector<Interval> found_;      // in the current records, the last one first
  std::uint64_t finalTicks_ = 0;
  std::uint64_t finalUntil_ = 0;
};

}  // namespace steptape::detail::profile
