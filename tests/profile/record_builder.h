// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>
#include <vector>

#include "steptape/base/clock.h"
#include "steptape/process/zone.h"
#include "steptape/profile/trace_summary.h"

#include "process/spans/span_collector.h"

namespace steptape {

/// A finished span of an operator.
inline SpanRecord span(std::string_view name, std::uint8_t depth, std::uint64_t start,
                       std::uint64_t end, std::uint8_t flags = 0) {
  const std::uint16_t id = internSpanName(SpanKind::kOperator, name);
  return {start, end, SpanRecord::kNoPayload, id, 0, depth, SpanKind::kOperator, flags, 0};
}

inline detail::process::SpanBatch batch(const std::vector<SpanRecord>& records,
                                        std::uint64_t threadId = 1, std::uint64_t dropped = 0) {
  return {threadId, "", ArrayView<const SpanRecord>(records.data(), records.size()), dropped};
}

/// Converts `ticks` by a TickConverter of this process.
inline std::chrono::nanoseconds nanos(std::uint64_t ticks) {
  return std::chrono::nanoseconds(
      static_cast<std::int64_t>(TickConverter().nanosBetween(0, ticks)));
}

/// Returns the operator `name`; without calls if the profile has none.
inline OpStats find(const OpProfile& profile, std::string_view name) {
  for (const OpStats& op : profile.operators) {
    if (op.name == name) {
      return op;
    }
  }
  return {};
}

}  // namespace steptape
