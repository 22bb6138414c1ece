// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "steptape/profile/trace.h"

namespace steptape {

/// A trace that a test assembles: threads are numbered 100, 101, ... in the order of first use.
class TraceBuilder {
 public:
  /// Adds a span from `start` to `end`; the reference is valid until the next span.
  TraceSpan& span(std::size_t thread, const std::string& name, SpanKind kind, std::int64_t start,
                  std::int64_t end) {
    while (trace_.threads.size() <= thread) {
      trace_.threads.push_back({100 + trace_.threads.size(), "", -1, {}});
    }
    TraceSpan& span = trace_.threads[thread].spans.emplace_back();
    span.start = start;
    span.duration = end - start;
    span.name = nameOf(name, kind);
    return span;
  }

  void step(std::int64_t number, std::int64_t start, std::int64_t end) {
    trace_.steps.push_back({number, start, end - start, 0});
    if (trace_.threads.empty()) {
      trace_.threads.push_back({100, "", -1, {}});
    }
  }

  /// Adds a stream of a device as the next thread.
  std::size_t stream(int device, std::uint64_t id) {
    trace_.threads.push_back({id, "", device, {}});
    return trace_.threads.size() - 1;
  }

  Trace& trace() { return trace_; }

  /// Returns the trace with its spans in order.
  Trace take() {
    for (TraceThread& thread : trace_.threads) {
      nestSpans(&thread.spans);
    }
    return std::move(trace_);
  }

 private:
  std::uint32_t nameOf(const std::string& text, SpanKind kind) {
    for (std::uint32_t i = 0; i < trace_.names.size(); ++i) {
      if (trace_.names[i].text == text && trace_.names[i].kind == kind) {
        return i;
      }
    }
    trace_.names.push_back({text, kind});
    return static_cast<std::uint32_t>(trace_.names.size() - 1);
  }

  Trace trace_;
};

}  // namespace steptape
