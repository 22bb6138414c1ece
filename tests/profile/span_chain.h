// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "steptape/profile/trace.h"

namespace steptape {

/// Builds a trace, span by span, in a chain of calls.
class SpanChain {
 public:
  SpanChain() {
    trace_.threads.resize(2);
    trace_.duration = 1000;
  }

  SpanChain& span(const std::string& name, SpanKind kind, std::int64_t start, std::int64_t end,
                  std::int64_t sequence = -1, std::uint8_t flags = 0) {
    TraceSpan span;
    span.start = start;
    span.duration = end - start;
    span.sequence = sequence;
    span.flags = flags;
    span.details = details_;
    span.name = static_cast<std::uint32_t>(trace_.names.size());
    trace_.names.push_back({name, kind});
    trace_.threads[thread_].spans.push_back(span);
    return *this;
  }
  SpanChain& op(const std::string& name, std::int64_t start, std::int64_t end,
                std::int64_t sequence = -1) {
    return span(name, SpanKind::kOperator, start, end, sequence);
  }
  SpanChain& onThread(std::size_t thread) {
    thread_ = thread;
    return *this;
  }
  SpanChain& with(const SpanDetails& details) {
    trace_.details.push_back(details);
    details_ = static_cast<std::uint32_t>(trace_.details.size() - 1);
    return *this;
  }
  SpanChain& withoutDetails() {
    details_ = 0;
    return *this;
  }
  SpanChain& memory(std::int64_t time, std::uint64_t address, std::int64_t bytes,
                    int deviceType = 0, int deviceIndex = 0) {
    TraceMemoryEvent event;
    event.time = time;
    event.address = address;
    event.bytes = bytes;
    event.deviceType = deviceType;
    event.deviceIndex = deviceIndex;
    event.thread = thread_;
    trace_.memory.push_back(event);
    return *this;
  }
  SpanChain& step(std::int64_t number, std::int64_t start, std::int64_t end) {
    trace_.steps.push_back({number, start, end - start, thread_});
    return *this;
  }

  Trace build() {
    for (TraceThread& thread : trace_.threads) {
      nestSpans(&thread.spans);
    }
    return trace_;
  }

 private:
  Trace trace_;
  std::size_t thread_ = 0;
  std::uint32_t details_ = 0;
};

}  // namespace steptape
