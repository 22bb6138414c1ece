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

/// Spans that nest, of few names or many, with details that repeat themselves or do not.
inline Trace randomTrace(unsigned seed) {
  std::mt19937 random(seed);
  const auto below = [&random](std::size_t count) { return random() % count; };
  Trace trace;
  trace.originNanos = static_cast<std::int64_t>(random()) * 1'000'000'000;
  for (std::size_t count = 1 + below(300); count > 0; --count) {
    trace.names.push_back(
        {std::string(below(40), static_cast<char>('a' + count % 26)) + std::to_string(count),
         static_cast<SpanKind>(below(kSpanKinds))});
  }
  for (std::size_t count = below(400); count > 0; --count) {
    SpanDetails details;
    details.shapes = "[[" + std::to_string(below(5)) + ", 3], [" + std::to_string(below(99)) + "]]";
    details.module = below(2) == 0 ? "" : "layer" + std::to_string(below(9));
    trace.details.push_back(details);
  }
  for (std::size_t threads = 1 + below(4); threads > 0; --threads) {
    TraceThread& thread = trace.threads.emplace_back();
    thread.id = threads;
    std::int64_t time = 0;
    for (std::size_t count = below(500); count > 0; --count) {
      TraceSpan span;
      time += static_cast<std::int64_t>(below(3) == 0 ? 0 : below(5000));
      span.start = time;
      span.duration = static_cast<std::int64_t>(below(20'000));
      span.name = static_cast<std::uint32_t>(below(trace.names.size()));
      span.details = static_cast<std::uint32_t>(below(trace.details.size()));
      span.sequence = static_cast<std::int64_t>(below(200)) - 50;
      span.sequence = span.sequence < 0 ? -1 : span.sequence;
      thread.spans.push_back(span);
    }
    nestSpans(&thread.spans);
    for (std::int64_t step = 0; step < 5; ++step) {
      trace.steps.push_back({step, 1000 + 100'000 * step, 100'000, trace.threads.size() - 1});
    }
  }
  std::stable_sort(trace.steps.begin(), trace.steps.end(),
                   [](const TraceStep& a, const TraceStep& b) { return a.start < b.start; });
  return trace;
}

}  // namespace steptape
