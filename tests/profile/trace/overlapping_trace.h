// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "steptape/profile/trace.h"

namespace steptape {

inline constexpr std::int64_t kEndOfOverlappingTrace = 3000;

/// Spans of all kinds that begin and end anywhere on several threads, so most of them overlap
/// without nesting, and steps on the first two threads. All times are below kEndOfOverlappingTrace.
inline Trace overlappingTrace(unsigned seed) {
  std::mt19937 random(seed);
  const auto below = [&random](std::int64_t count) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(count));
  };
  Trace trace;
  trace.duration = kEndOfOverlappingTrace;
  for (std::size_t i = 0; i < 2 * kSpanKinds; ++i) {
    if (static_cast<SpanKind>(i / 2) != SpanKind::kMemory) {
      trace.names.push_back(
          {std::string(1, static_cast<char>('a' + i % 5)), static_cast<SpanKind>(i / 2)});
    }
  }
  for (std::int64_t threads = 2 + below(3); threads > 0; --threads) {
    TraceThread& thread = trace.threads.emplace_back();
    thread.id = static_cast<std::uint64_t>(threads);
    for (std::int64_t count = below(80); count > 0; --count) {
      TraceSpan span;
      span.start = below(kEndOfOverlappingTrace);
      const std::int64_t room = kEndOfOverlappingTrace - span.start;
      span.duration = below(3) == 0 ? below(room) : below(std::min<std::int64_t>(room, 50));
      span.name = static_cast<std::uint32_t>(below(static_cast<std::int64_t>(trace.names.size())));
      span.flags = below(20) == 0 ? kDetached : 0;
      thread.spans.push_back(span);
    }
    nestSpans(&thread.spans);
  }
  for (std::int64_t end = below(200); end < kEndOfOverlappingTrace - 1000;) {
    const std::int64_t start = end + below(2) * below(100);
    end = start + below(400);
    trace.steps.push_back({end, start, end - start, static_cast<std::size_t>(below(2))});
  }
  return trace;
}

/// Returns which span of a thread each nanosecond of the trace belongs to, by the definition: the
/// one that began last of those that are open; -1: none.
inline std::vector<int> ownersOf(const std::vector<TraceSpan>& spans) {
  std::vector<int> owners(kEndOfOverlappingTrace, -1);
  for (std::size_t i = 0; i < spans.size(); ++i) {
    const TraceSpan& span = spans[i];
    if ((span.flags & (kDetached | kOverlapping)) != kDetached) {
      std::fill_n(owners.begin() + span.start, span.duration, static_cast<int>(i));
    }
  }
  return owners;
}

}  // namespace steptape
